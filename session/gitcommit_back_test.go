package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// hunksOf are the names of the hunks of a file in a scope.
func (f *fixture) hunksOf(in session.Scope, file string) (names []string) {
	f.Helper()
	for d, err := range f.Diff(background, "s", in, cairn.DiffOptions{Hunks: true}) {
		if err != nil {
			f.Fatal(err)
		}
		for i := range d.Hunks {
			if string(d.File) == file {
				names = append(names, d.Hunks[i].ID)
			}
		}
	}
	return names
}

func (f *fixture) takeBackHunks(in session.Scope, names ...string) {
	f.Helper()
	res, err := f.RevertHunks(background, "s", in, cairn.RevertOptions{Hunks: names})
	if err != nil || !res.Complete() {
		f.Fatalf("%+v, %v", res, err)
	}
}

// TestCommitLeavesOutWhatWasTakenBack: hunks, files and modes that an operation has taken back are in
// no commit, whatever turn they are of. The rest is, and the work tree has nothing left to commit.
func TestCommitLeavesOutWhatWasTakenBack(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File(tenLines), "b": gittest.File("b\n"), "run": gittest.File("#!\n")})
	f.turn("s", "m1", "one", func() {
		f.replace("a", "2\n", "two\n")
		f.replace("a", "5\n", "five\n")
		f.write("b", "B\n")
		f.write("new", "new\n")
		if err := os.Chmod(filepath.Join(f.root, "run"), 0o755); err != nil {
			t.Fatal(err)
		}
	})
	f.turn("s", "m2", "two", func() { f.replace("a", "9\n", "nine\n"); f.write("other", "other\n") })
	f.turn("s", "m3", "three", func() { f.write("b", "B again\n") })
	f.replace("a", "7\n", "mine\n")

	first := session.Scope{Message: "m1"}
	f.takeBackHunks(first, f.hunksOf(first, "a")[0])
	f.takeBackHunks(first, f.hunksOf(first, "new")...)
	f.takeBackHunks(first, f.hunksOf(first, "run")...)
	f.revertSteps([]string{"step of m3"}, cairn.RevertOptions{})

	done, err := f.commit(session.GitCommitOptions{})
	if err != nil || len(done.Commits) != 2 || len(done.Turns) != 1 || done.Turns[0].Reason != "it is taken back" {
		t.Fatalf("%+v, %v", done, err)
	}
	f.want("turn 1", strings.Replace(tenLines, "5\n", "five\n", 1), f.run("show", "HEAD~1:a"))
	f.want("files of turn 1", "a\nb\n", f.run("show", "--format=", "--name-only", "HEAD~1"))
	f.want("turn 2", strings.NewReplacer("5\n", "five\n", "9\n", "nine\n").Replace(tenLines), f.run("show", "HEAD:a"))
	f.want("status", " M a\n", f.run("status", "--porcelain"))
	f.want("the user's line", "+mine\n", f.run("diff", "-U0")[strings.Index(f.run("diff", "-U0"), "+mine"):])
}

// TestCommitAfterAnUndoneTakeBack: a hunk whose take-back was undone is committed, and so is one that a
// later turn made once more. An older operation takes nothing out of a later turn.
func TestCommitAfterAnUndoneTakeBack(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File(tenLines)})
	f.turn("s", "m1", "one", func() { f.replace("a", "2\n", "two\n"); f.replace("a", "5\n", "five\n") })
	first := session.Scope{Message: "m1"}
	names := f.hunksOf(first, "a")
	f.takeBackHunks(first, names[0])
	if _, err := f.repo.Undo(background, cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	f.takeBackHunks(first, names[1])
	f.turn("s", "m2", "two", func() { f.replace("a", "5\n", "five\n") })
	if done, err := f.commit(session.GitCommitOptions{}); err != nil || len(done.Commits) != 2 {
		t.Fatalf("%+v, %v", done, err)
	}
	f.want("turn 1", strings.Replace(tenLines, "2\n", "two\n", 1), f.run("show", "HEAD~1:a"))
	f.want("turn 2", strings.NewReplacer("2\n", "two\n", "5\n", "five\n").Replace(tenLines), f.run("show", "HEAD:a"))
	f.want("status", "", f.run("status", "--porcelain"))
}

// TestCommitAfterARestore: lines of the user that a restore brings back are in no commit.
func TestCommitAfterARestore(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File(tenLines)})
	f.replace("a", "10\n", "mine\n")
	before, err := f.repo.Track(background, cairn.TrackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f.turn("s", "m1", "one", func() { f.replace("a", "2\n", "two\n"); f.write("b", "b\n") })
	f.replace("a", "mine\n", "10\n")
	if _, err := f.repo.Restore(background, before.Hash, cairn.RestoreOptions{Paths: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	if done, err := f.commit(session.GitCommitOptions{}); err != nil || len(done.Commits) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	f.want("files", "b\n", f.run("show", "--format=", "--name-only", "HEAD"))
	f.want("status", " M a\n", f.run("status", "--porcelain"))
}

// TestCommitLeavesOutLines: lines of a hunk that an operation has taken back are in no commit. The rest of
// the hunk is.
func TestCommitLeavesOutLines(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File(tenLines)})
	f.turn("s", "m1", "one", func() {
		f.replace("a", "5\n6\n", "five\nsix\nand a half\nand more\n")
		f.write("new", "1\n2\n3\n")
	})
	lines := []cairn.LineRange{{Path: "a", From: 5, To: 5}, {Path: "a", From: 7, To: 7}, {Path: "new", From: 2, To: 2}}
	res, err := f.RevertHunks(background, "s", session.Scope{Message: "m1"}, cairn.RevertOptions{Lines: lines})
	if err != nil || !res.Complete() {
		t.Fatalf("%+v, %v", res, err)
	}
	if done, err := f.commit(session.GitCommitOptions{}); err != nil || len(done.Commits) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	f.want("the commit", strings.Replace(tenLines, "6\n", "six\nand more\n", 1), f.run("show", "HEAD:a"))
	f.want("the new file", "1\n3\n", f.run("show", "HEAD:new"))
	f.want("status", "", f.run("status", "--porcelain"))
}

// TestCommitAfterRestoresOfWholeFiles: what a restore has replaced by an older state is in no commit, also
// where the user or a later turn wrote at the same lines since. An undone restore takes nothing back.
func TestCommitAfterRestoresOfWholeFiles(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File(tenLines), "b": gittest.File(tenLines), "gone": gittest.File("x\n"), "bytes": gittest.File("\x00")})
	before, err := f.repo.Track(background, cairn.TrackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f.turn("s", "m1", "one", func() {
		f.replace("a", "5\n", "five\n")
		f.replace("b", "5\n", "five\n")
		f.write("bytes", "\x00agent")
		if err := os.Remove(filepath.Join(f.root, "gone")); err != nil {
			t.Fatal(err)
		}
	})
	f.turn("s", "m2", "two", func() { f.replace("a", "five\n", "fifth\n"); f.write("new", "new\n") })
	f.replace("b", "five\n", "mine\n")
	f.write("gone", "mine\n")
	f.write("bytes", "\x00mine")
	restored := cairn.RestoreOptions{Paths: []string{"a", "b", "gone", "bytes"}}
	if _, err := f.repo.Restore(background, before.Hash, restored); err != nil {
		t.Fatal(err)
	}
	if done, err := f.commit(session.GitCommitOptions{DryRun: true}); err != nil || len(done.Commits) != 1 || len(done.Commits[0].Files) != 1 {
		t.Errorf("dry run: %+v, %v", done, err)
	}
	if _, err := f.repo.Undo(background, cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	if done, err := f.commit(session.GitCommitOptions{}); err != nil || len(done.Commits) != 2 {
		t.Fatalf("%+v, %v", done, err)
	}
	f.want("turn 2", strings.Replace(tenLines, "5\n", "fifth\n", 1), f.run("show", "HEAD:a"))
	f.want("turn 1", strings.Replace(tenLines, "5\n", "five\n", 1), f.run("show", "HEAD:b"))
}

// TestCommitAfterAnOverwritingTakeBack: a hunk that goes back over the user's line is in no commit, although
// the file has more of the user.
func TestCommitAfterAnOverwritingTakeBack(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File(tenLines)})
	f.turn("s", "m1", "one", func() { f.replace("a", "2\n", "two\n"); f.replace("a", "9\n", "nine\n") })
	first := session.Scope{Message: "m1"}
	names := f.hunksOf(first, "a")
	f.replace("a", "two\n", "mine\n")
	if _, err := f.RevertHunks(background, "s", first, cairn.RevertOptions{Hunks: names[:1], OnConflict: cairn.Overwrite}); err != nil {
		t.Fatal(err)
	}
	if done, err := f.commit(session.GitCommitOptions{}); err != nil || len(done.Commits) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	f.want("turn 1", strings.Replace(tenLines, "9\n", "nine\n", 1), f.run("show", "HEAD:a"))
}

// TestCommitOfTheLastFile: a commit without files is a sound one.
func TestCommitOfTheLastFile(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	f.turn("s", "m1", "one", func() {
		if err := os.Remove(filepath.Join(f.root, "a")); err != nil {
			t.Fatal(err)
		}
	})
	if done, err := f.commit(session.GitCommitOptions{}); err != nil || len(done.Commits) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	f.want("files", "", f.run("ls-tree", "HEAD"))
}

// TestCommitOfATurnOnOneThatIsNotCommitted: a turn that builds on another one is not taken for committed
// because HEAD has an earlier state of the session.
func TestCommitOfATurnOnOneThatIsNotCommitted(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File(tenLines)})
	f.turn("s", "m1", "one", func() { f.replace("a", "5\n", "one\n") })
	if done, err := f.commit(session.GitCommitOptions{}); err != nil || len(done.Commits) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	f.turn("s", "m2", "two", func() { f.replace("a", "one\n", "two\n") })
	f.turn("s", "m3", "three", func() { f.replace("a", "two\n", "three\n") })
	if done, err := f.commit(session.GitCommitOptions{}, 3); !errors.Is(err, session.ErrBuildsOn) {
		t.Errorf("%+v, %v", done, err)
	}
	f.run("commit", "-q", "-a", "-m", "by hand")
	if done, err := f.commit(session.GitCommitOptions{}); err != nil || len(done.Commits) != 0 {
		t.Errorf("HEAD has a later state: %+v, %v", done, err)
	}
}
