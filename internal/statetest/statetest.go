// Package statetest is test support: states of a store from literal files.
package statetest

import (
	"context"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"slices"
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
	return NewStoreOf(t, filepath.Join(t.TempDir(), "no-such-directory"))
}

// NewStoreOf makes an empty store of a root. Two stores of one root are those of two machines.
func NewStoreOf(t testing.TB, root string) *history.Store {
	t.Helper()
	db, err := odb.Create(filepath.Join(t.TempDir(), "store"), root, odb.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return storeOn(db, root)
}

// Reopen opens a store as another process does. The caller closes its DB.
func Reopen(t testing.TB, store *history.Store) *history.Store {
	t.Helper()
	db, err := odb.Open(store.DB.Dir(), store.Root, odb.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	return storeOn(db, store.Root)
}

func storeOn(db *odb.DB, root string) *history.Store {
	store := history.New(settings.Options{}, root)
	store.Use(db)
	store.Recovery = func(context.Context, *history.Locked) error { return nil } // no operation is under way
	store.Disturbed = func(*history.Locked) {}
	_ = store.RefreshDenied() // captures look again, and fail
	return store
}

// File is a file or a symlink of a state. The zero Mode is that of a regular file.
type File struct {
	Mode    object.Mode
	Content string
	Lost    bool // the store does not hold the content
}

// NewState adds a state with some files, contents by path. A path that ends with a slash is an
// empty directory.
func NewState(t testing.TB, store *history.Store, files map[string]string) state.State {
	t.Helper()
	all := make(map[string]File, len(files))
	for path, content := range files {
		all[path] = File{Content: content}
	}
	return NewStateOf(t, store, all)
}

// NewStateOf is NewState with files of any mode.
func NewStateOf(t testing.TB, store *history.Store, files map[string]File) state.State {
	t.Helper()
	batch := store.DB.NewBatch()
	defer batch.Discard()
	edits := make(map[string]*object.Entry)
	meta := &state.Metadata{Version: state.MetadataVersion, Perm: state.Permissions{File: 0o644, Exec: 0o755, Dir: 0o755}}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		file := files[path]
		if dir, ok := strings.CutSuffix(path, "/"); ok {
			meta.Empty = append(meta.Empty, state.Path(dir))
			continue
		}
		if file.Mode == 0 {
			file.Mode = object.Regular
		}
		id := object.Sum(object.Blob, []byte(file.Content))
		if !file.Lost {
			if _, err := batch.Add(object.Blob, []byte(file.Content)); err != nil {
				t.Fatal(err)
			}
		}
		edits[path] = &object.Entry{Mode: file.Mode, ID: id}
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

// Track adds a state to the day's line, as a capture does.
func Track(t testing.TB, store *history.Store, s state.State) *history.Checkpoint {
	t.Helper()
	return Append(t, store, store.Today(), s, history.StateLabel{})
}

// Append adds a checkpoint of a state to the line of a ref. Without a message, a state that the
// line ends with already gets no new checkpoint.
func Append(t testing.TB, store *history.Store, ref string, s state.State, label history.StateLabel) *history.Checkpoint {
	t.Helper()
	batch := store.DB.NewBatch()
	defer batch.Discard()
	tip, err := store.Tip(ref)
	if err != nil {
		t.Fatal(err)
	}
	id, err := store.AddState(batch, s, tip, label)
	if err == nil {
		err = batch.Commit()
	}
	if err == nil {
		err = store.DB.SetRef(ref, id)
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := store.ReadCheckpoint(id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Contents reads the files of a checkpoint, contents by path.
func Contents(t testing.TB, store *history.Store, spec string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for e, err := range store.List(context.Background(), spec, "") {
		if err != nil {
			t.Fatal(err)
		}
		_, rc, err := store.OpenFile(context.Background(), spec, e.Path)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(rc)
		if err := errors.Join(err, rc.Close()); err != nil {
			t.Fatal(err)
		}
		all[e.Path] = string(data)
	}
	return all
}
