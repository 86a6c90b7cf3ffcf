package transfer

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/sealed"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// machine is a store, and the Transport of its checkpoints.
type machine struct {
	*Transport
	testing.TB
}

func newMachine(t testing.TB) *machine { return machineOf(t, statetest.NewStore(t)) }

func machineOf(t testing.TB, store *history.Store) *machine {
	lacking := func(context.Context) ([]object.ID, error) { return nil, nil }
	store.Opt.Sealer = sealed.Age{}
	return &machine{&Transport{Store: store, Lacking: lacking, Repository: func() *git.Repo { return nil }}, t}
}

// other is another machine with the same root.
func (m *machine) other() *machine { return machineOf(m, statetest.NewStoreOf(m, m.Root)) }

func (m *machine) track(files map[string]string) *history.Checkpoint {
	m.Helper()
	return statetest.Track(m, m.Store, statetest.NewState(m, m.Store, files))
}

func (m *machine) export(spec string) []byte {
	m.Helper()
	var b bytes.Buffer
	if err := m.Export(m.Context(), &b, spec); err != nil {
		m.Fatalf("export %s: %v", spec, err)
	}
	return b.Bytes()
}

func (m *machine) imported(bundle []byte) *history.Checkpoint {
	m.Helper()
	c, err := m.Import(m.Context(), bytes.NewReader(bundle))
	if err != nil {
		m.Fatalf("import: %v", err)
	}
	return c
}

// listing holds every file of the store with its contents, except the note that names the last
// holder of the lock.
func (m *machine) listing() map[string]string {
	m.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(m.DB.Dir(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() == "lock.holder" {
			return err
		}
		if e.IsDir() {
			files[path] = "directory"
			return nil
		}
		data, err := os.ReadFile(path)
		files[path] = fmt.Sprintf("%x", sha1.Sum(data))
		return err
	})
	if err != nil {
		m.Fatal(err)
	}
	return files
}

// same fails unless the store holds what it held before.
func (m *machine) same(before map[string]string, why string) {
	m.Helper()
	now := m.listing()
	for _, path := range slices.Sorted(maps.Keys(now)) {
		if before[path] != now[path] {
			m.Errorf("%s: %s has changed or is new", why, path)
		}
	}
	for path := range before {
		if _, ok := now[path]; !ok {
			m.Errorf("%s: %s is gone", why, path)
		}
	}
}

func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want one that is %v", err, want)
	}
}
