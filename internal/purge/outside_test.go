package purge

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/outside"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// TestPurgeSecretsOutside: a step has saved a file outside the root that holds a credential. It is found by its
// path and goes; other contents of the path stay.
func TestPurgeSecretsOutside(t *testing.T) {
	t.Parallel()
	for _, there := range []bool{true, false} {
		w := newWritten(t)
		w.track(files{"a": "1"})
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "notes")
		token := "token: " + strings.Join([]string{"ghp", "_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7rA"}, "") + "\n"
		w.saveOutside(path, token)
		w.saveOutside(path, "plain\n")
		var still state.Paths
		if there {
			if err := os.WriteFile(path, []byte(token), 0o600); err != nil {
				t.Fatal(err)
			}
			still = state.Paths{path}
		}
		done, err := w.PurgeSecrets(t.Context(), PurgeSecretsOptions{DryRun: true})
		if err != nil || len(done.Findings) != 1 || string(done.Findings[0].Path) != path || done.Findings[0].Line != 1 || done.Findings[0].Checkpoints != 1 {
			t.Fatalf("dry run: %+v, %v", done, err)
		}
		done, err = w.PurgeSecrets(t.Context(), PurgeSecretsOptions{})
		if err != nil || !slices.Equal(done.Paths, state.Paths{path}) || !slices.Equal(done.Uncaptured, still) || len(done.Elsewhere) > 0 {
			t.Errorf("%+v, %v", done, err)
		}
		if w.holds(token) || !w.holds("plain\n") || !slices.Equal(state.Paths(w.purged()), still) {
			t.Errorf("the store holds the token: %t, the other contents: %t; purged %q", w.holds(token), w.holds("plain\n"), w.purged())
		}
		if again, err := w.PurgeSecrets(t.Context(), PurgeSecretsOptions{}); err != nil || len(again.Findings) > 0 {
			t.Errorf("again: %+v, %v", again, err)
		}
	}
}

// TestPathsThatAreNotFound: each given path of which nothing was found is named, and captured as before, whatever else
// went. A purge that goes on after an interruption knows of none.
func TestPathsThatAreNotFound(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	away := filepath.Join(dir, "notes")
	for _, c := range []struct {
		paths           []string
		found, notFound state.Paths
	}{
		{[]string{"a", "b"}, state.Paths{"a", "b"}, nil},
		{[]string{"a", "typo"}, state.Paths{"a"}, state.Paths{"typo"}},
		{[]string{"typo", away}, state.Paths{away}, state.Paths{"typo"}},
		{[]string{"a", away}, state.Paths{"a", away}, nil},
	} {
		w := newWritten(t)
		w.track(files{"a": "1", "b": "2"})
		w.saveOutside(away, "plain\n")
		done := w.purge(c.paths...)
		if !slices.Equal(done.Paths, c.found) || !slices.Equal(done.NotFound, c.notFound) {
			t.Errorf("%q: found %q, not found %q", c.paths, done.Paths, done.NotFound)
		}
		slices.Sort(c.found)
		if list := state.Paths(w.purged()); !slices.Equal(list, c.found) {
			t.Errorf("%q: %q are not captured", c.paths, list)
		}
	}
	w := newWritten(t)
	w.track(files{"a": "1"})
	if err := w.DB.WritePrivate(odb.PrivatePurging, []byte("unfinished\n")); err != nil {
		t.Fatal(err)
	}
	if done := w.purge("b"); done.NotFound != nil {
		t.Errorf("not found %q, though an interrupted purge may have found it", done.NotFound)
	}
}

// saveOutside adds a record of a file outside the root.
func (w *written) saveOutside(path, content string) {
	w.Helper()
	batch := w.DB.NewBatch()
	defer batch.Discard()
	id, err := batch.Add(object.Blob, []byte(content))
	if err != nil {
		w.Fatal(err)
	}
	ref, err := outside.Add(w.DB, batch, outside.Record{Before: []outside.Entry{
		{Path: state.Path(path), Mode: object.Regular, Perm: 0o600, ID: id.String()},
	}})
	if err == nil {
		err = batch.Commit(ref)
	}
	if err != nil {
		w.Fatal(err)
	}
}
