// Package statetest is test support: states of a store from literal files.
package statetest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// NewStore makes an empty store. Its root does not exist.
func NewStore(t testing.TB) *history.Store {
	t.Helper()
	root := filepath.Join(t.TempDir(), "no-such-directory")
	db, err := odb.Create(filepath.Join(t.TempDir(), "store"), root, odb.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	store := history.New(settings.Options{}, root)
	store.Use(db)
	store.RefreshDenied()
	return store
}

// NewState adds a state with some files, contents by path. A path that ends with a slash is an
// empty directory.
func NewState(t testing.TB, store *history.Store, files map[string]string) state.State {
	t.Helper()
	batch := store.DB.NewBatch()
	defer batch.Discard()
	edits := make(map[string]*object.Entry)
	meta := &state.Metadata{Version: state.MetadataVersion, Perm: state.Permissions{File: 0o644, Exec: 0o755, Dir: 0o755}}
	for path, content := range files {
		if dir, ok := strings.CutSuffix(path, "/"); ok {
			meta.Empty = append(meta.Empty, state.Path(dir))
			continue
		}
		id, err := batch.Add(object.Blob, []byte(content))
		if err != nil {
			t.Fatal(err)
		}
		edits[path] = &object.Entry{Mode: object.Regular, ID: id}
	}
	tree, err := store.EditTree(batch, object.EmptyTree, edits)
	if err != nil {
		t.Fatal(err)
	}
	if err := batch.Commit(); err != nil {
		t.Fatal(err)
	}
	return state.State{Tree: tree, Meta: meta}
}
