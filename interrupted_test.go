package cairn_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// begunContext ends when an operation has its journal, so before the operation changes a file. The
// operation stays as that of a process that was killed then.
type begunContext struct {
	context.Context
	journal string
}

func (c begunContext) Err() error {
	if _, err := os.Lstat(c.journal); err == nil {
		return context.Canceled
	}
	return c.Context.Err()
}

// interruptedRestore leaves a restore that has begun and changed nothing.
func (f *fixture) interruptedRestore(hash string) {
	f.Helper()
	r, err := cairn.Open(f.opt)
	if err != nil {
		f.Fatal(err)
	}
	defer r.Close()
	before := f.manifest()
	journal := filepath.Join(r.StoreDir(), "cairn", "journal", "operation")
	res, err := r.Restore(begunContext{f.Context(), journal}, hash, cairn.RestoreOptions{})
	if err == nil {
		f.Fatalf("not interrupted: %+v", res)
	}
	if _, err := os.Lstat(journal); err != nil {
		f.Fatal(err)
	}
	f.same(before)
}

// TestWatchedTrackFinishesAnOperation: nothing has changed in the directory since the last track of a
// Repo that watches, and another process has died with a restore that it had begun. The track does
// not answer from memory.
func TestWatchedTrackFinishesAnOperation(t *testing.T) {
	t.Parallel()
	w := newWatcher(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n")})
	then := w.manifest()
	first := w.track()
	w.write("a", "2\n")
	w.remove("b")
	w.write("made", "2\n")
	w.same("changed")
	w.same("at rest")
	w.interruptedRestore(first.Checkpoint)
	if w.same("after another process died"); gittest.Diff(then, w.manifest()) != "" {
		t.Errorf("the restore is not finished:\n%s", gittest.Diff(then, w.manifest()))
	}
}
