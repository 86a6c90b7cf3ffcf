package cairn_test

import (
	"os"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// newestOperation returns the last operation and its state after.
func (f *fixture) newestOperation() (op *cairn.Operation, after *cairn.Checkpoint) {
	f.Helper()
	for op, err := range f.repo().Operations(f.Context()) {
		if err != nil {
			f.Fatal(err)
		}
		after, err := f.repo().Lookup(f.Context(), op.After)
		if err != nil {
			f.Fatal(err)
		}
		return op, after
	}
	f.Fatal("no operation")
	return nil, nil
}

// meanwhile has do called during the next apply, when the first change is done.
func (f *fixture) meanwhile(do func()) {
	f.closeAll()
	f.opt.Progress = func(p cairn.Progress) {
		if p.Phase == "apply" && do != nil {
			do()
			do = nil
		}
	}
}

// TestRecordingLooksEverywhereAfterNewRules: a restore that brings other ignore rules
// makes names visible in directories that it does not touch. The state after it must
// have them: otherwise going back to it would delete them as new.
func TestRecordingLooksEverywhereAfterNewRules(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("*.tmp\n"), "a": gittest.File("a"), "sub/b": gittest.File("b")})
	first := f.track().Checkpoint
	f.write(".gitignore", "*.log\n")
	f.track()
	f.write("sub/x.log", "never seen")
	f.track()
	f.restoreAll(first)
	_, after := f.newestOperation()
	if tree := f.track().Hash; tree != after.Hash {
		t.Errorf("the state after the restore is %s, what is on the disk %s", after.Hash, tree)
	}
	if text := readAt(t, f, after.ID, "sub/x.log"); text != "never seen" {
		t.Errorf("the state after the restore has %q", text)
	}
}

// TestRecordingIsAboutTheOperation: the changes of other programs during an operation, even in the
// same directory, are not the operation's, and the next capture finds them.
func TestRecordingIsAboutTheOperation(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"dir/a": gittest.File("one"), "dir/b": gittest.File("one"), "dir/c": gittest.File("one"), "sub/d": gittest.File("one")})
	first := f.track()
	f.write("dir/a", "two")
	f.track()
	f.meanwhile(func() {
		f.write("dir/b", "theirs")
		f.write("dir/new", "theirs")
		f.write("sub/d", "theirs")
		f.remove("dir/c")
	})
	f.restoreAll(first.Checkpoint)
	_, after := f.newestOperation()
	if after.Hash != first.Hash {
		t.Errorf("the state after the restore holds somebody else's work: %s, want %s", after.Hash, first.Hash)
	}
	if changes, err := f.repo().Changes(f.Context(), after.ID, ""); err != nil || len(changes) != 4 {
		t.Errorf("the next capture finds %+v, %v", changes, err)
	}
	f.undo(cairn.RevertOptions{})
	if f.read("dir/a") != "two" || f.read("dir/b") != "theirs" || f.read("dir/new") != "theirs" || f.read("sub/d") != "theirs" || f.exists("dir/c") {
		t.Errorf("after the undo: %v", f.manifest())
	}
}

// TestRecordingDoesNotBelieveWhatWasOverwritten: a file that another program overwrites right after
// its restore is recorded as it is.
func TestRecordingDoesNotBelieveWhatWasOverwritten(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("one"), "b": gittest.File("one")})
	first := f.track().Checkpoint
	f.write("a", "two")
	f.write("b", "two")
	f.track()
	f.meanwhile(func() {
		f.write("a", "6 more")
		if err := os.Chmod(f.path("a"), 0o600); err != nil {
			t.Error(err)
		}
	})
	f.restoreAll(first)
	_, after := f.newestOperation()
	if text := readAt(t, f, after.ID, "a"); text != "6 more" {
		t.Errorf("the state after the restore has %q", text)
	}
	if changes, err := f.repo().Changes(f.Context(), after.ID, ""); err != nil || len(changes) != 0 {
		t.Errorf("the next capture finds %+v, %v", changes, err)
	}
}
