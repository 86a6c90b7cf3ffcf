package cairn_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// interruptedRestore leaves a restore that has begun and changed nothing, as that of a process that was
// killed then: its context ends when the operation has its journal.
func (f *fixture) interruptedRestore(hash string) {
	f.Helper()
	f.interrupted(func(ctx context.Context, r *cairn.Repo) (*cairn.Result, error) {
		return r.Restore(ctx, hash, cairn.RestoreOptions{})
	})
}

// interrupted leaves an operation that has begun and changed nothing.
func (f *fixture) interrupted(operate func(context.Context, *cairn.Repo) (*cairn.Result, error)) {
	f.Helper()
	r, err := cairn.Open(f.opt)
	if err != nil {
		f.Fatal(err)
	}
	defer r.Close()
	before := f.manifest()
	journal := filepath.Join(r.StoreDir(), "cairn", "journal", "operation")
	res, err := operate(gittest.Until(f.Context(), journal), r)
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

// TestOperationThatCameToNothing: an operation that could change none of its paths, here because the user
// was there before it was finished, is not recorded. An undo would find nothing to do in it, again and
// again, and never reach the operation before. An undo of that kind does not count as one.
func TestOperationThatCameToNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n")})
	first := f.track()
	f.write("a", "2\n")
	f.restoreAll(first.Checkpoint)
	f.write("b", "2\n")
	f.interruptedRestore(first.Checkpoint)
	f.write("b", "mine\n")
	f.interrupted(func(ctx context.Context, r *cairn.Repo) (*cairn.Result, error) {
		return r.Undo(ctx, cairn.RevertOptions{})
	})
	f.write("a", "1\n1\n")
	f.track()
	f.write("a", "1\n")
	f.undo(cairn.RevertOptions{})
	if f.read("a") != "2\n" || f.read("b") != "mine\n" {
		t.Errorf("after the undo: %q, %q", f.read("a"), f.read("b"))
	}
}

// TestUndoOfAnInterruptedOperation: an undo finishes the operation of a dead process and takes that
// back, not the operation before.
func TestUndoOfAnInterruptedOperation(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n")})
	first := f.track()
	f.write("a", "2\n")
	second := f.track()
	f.write("b", "2\n")
	f.restoreAll(first.Checkpoint)
	between := f.manifest()
	f.interruptedRestore(second.Checkpoint)
	f.undo(cairn.RevertOptions{})
	gittest.AssertEqual(t, "undone", between, f.manifest())
	if _, err := f.repo().Redo(background, cairn.RevertOptions{}); err != nil || f.read("a") != "2\n" || f.read("b") != "1\n" {
		t.Errorf("redone: %v, %q, %q", err, f.read("a"), f.read("b"))
	}
	f.undo(cairn.RevertOptions{})
	f.undo(cairn.RevertOptions{})
	if f.read("a") != "2\n" || f.read("b") != "2\n" {
		t.Errorf("both undone: %q, %q", f.read("a"), f.read("b"))
	}
}

// TestRedoAfterAnInterruptedOperation: once another restore has begun there is nothing to redo.
func TestRedoAfterAnInterruptedOperation(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n")})
	first := f.track()
	f.write("a", "2\n")
	second := f.track()
	f.restoreAll(first.Checkpoint)
	f.undo(cairn.RevertOptions{})
	f.write("b", "2\n")
	f.interruptedRestore(second.Checkpoint)
	if _, err := f.repo().Redo(background, cairn.RevertOptions{}); err == nil {
		t.Error("redone")
	}
	if f.read("a") != "2\n" || f.read("b") != "1\n" {
		t.Errorf("the restore is not finished: %q, %q", f.read("a"), f.read("b"))
	}
}

// TestUndoOfAKilledRestore kills a restore before its write-type system calls. An undo takes the
// restore back whole, or finds that none has begun.
func TestUndoOfAKilledRestore(t *testing.T) {
	t.Parallel()
	c := newCrashRun(t)
	undone := 0
	const often = 31 // of some 100 calls, so that a kill comes after the beginning in every form of the tests
	gittest.Killed(t, min(gittest.Stride(), often), func(n int) gittest.Crash {
		c.reset()
		return gittest.KillAt(t, []string{os.Args[0]}, c.env("restore"), gittest.WriteCalls, n)
	}, func(when string) {
		res, err := c.repo().Undo(background, cairn.RevertOptions{})
		switch {
		case err == nil && res.Complete():
			undone++
		case err == nil || !errors.Is(err, cairn.ErrNotFound):
			t.Fatalf("%s: %v, %+v", when, err, res)
		}
		gittest.AssertEqual(t, when, c.old, c.manifest())
	})
	if t.Logf("%d restores were finished and undone", undone); undone == 0 {
		t.Error("no restore was killed after its beginning")
	}
}

// TestTokenUsedTwice: a caller that gives two operations the same token does not hide that the second one was
// interrupted.
func TestTokenUsedTwice(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	then := f.manifest()
	first := f.track()
	f.write("a", "2\n")
	token := operation.NewToken()
	if _, err := f.repo().Restore(operation.WithToken(background, token), first.Checkpoint, cairn.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	f.write("a", "3\n")
	journal := filepath.Join(f.repo().StoreDir(), "cairn", "journal", "operation")
	again := operation.WithToken(gittest.Until(f.Context(), journal), token)
	if res, err := f.repo().Restore(again, first.Checkpoint, cairn.RestoreOptions{}); err == nil {
		t.Fatalf("not interrupted: %+v", res)
	}
	f.closeAll()
	f.opened = nil
	f.track()
	gittest.AssertEqual(t, "finished", then, f.manifest())
}
