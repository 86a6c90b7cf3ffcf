package cairn_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
)

// named returns the tree by which a record has the index, "" if it has the file.
func (f *gitFixture) named(checkpoint string) string {
	f.Helper()
	record := f.record(checkpoint)
	_, file := f.o.Try(f.repo().StoreDir(), "cat-file", "-e", record+":files/index")
	for line := range strings.Lines(f.part(record, "about")) {
		if tree, ok := strings.CutPrefix(line, "index-tree "); ok {
			if file == nil {
				f.Error("the record has the index twice")
			}
			return strings.TrimSpace(tree)
		}
	}
	if file != nil {
		f.Error("the record has no index")
	}
	return ""
}

// TestGitIndexNamed: the index of a clean repository is recorded by the name of the commit's tree. One with changes, and
// one that a tree cannot hold, is recorded as a file. Either goes back to the other.
func TestGitIndexNamed(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t)
	tree := f.git("rev-parse", "HEAD^{tree}")
	clean := f.track().Checkpoint
	if got := f.named(clean); got != tree {
		t.Errorf("a clean index has the name %q, want %s", got, tree)
	}
	states := map[string]string{"clean": clean}
	for _, step := range []struct{ name, commands string }{
		{"staged", "rm -q --cached file"},
		{"soft", "reset -q --soft HEAD~1"},
		{"marked", "reset -q --hard " + f.git("rev-parse", "HEAD") + "|update-index --assume-unchanged file"},
	} {
		for args := range strings.SplitSeq(step.commands, "|") {
			f.git(strings.Fields(args)...)
		}
		if states[step.name] = f.track().Checkpoint; f.named(states[step.name]) != "" {
			t.Errorf("%s: the index has a name", step.name)
		}
	}
	look := func() string { return f.git("ls-files", "--stage", "-v") + f.git("rev-parse", "HEAD") }
	at := look()
	for _, name := range []string{"clean", "staged", "soft", "clean", "marked"} {
		r := f.repo()
		plan, err := r.RestoreGit(f.Context(), states[name], cairn.GitRestoreOptions{DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.RestoreGit(f.Context(), states[name], cairn.GitRestoreOptions{Plan: plan.PlanID}); err != nil {
			t.Fatal(err)
		}
		if words := f.moved(states[name]); len(words) > 0 {
			t.Errorf("%s: still %q", name, words)
		}
	}
	if got := look(); got != at {
		t.Errorf("git:\n%s\nwant:\n%s", got, at)
	}
	f.sound()
}

// TestGitIndexOfNested: a clean nested repository has its index by a name, too.
func TestGitIndexOfNested(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t)
	sub := &gitFixture{&fixture{T: f.T, root: f.o.Init(f.path("sub"))}, f.o}
	sub.commit("inner")
	about := f.part(f.record(f.track().Checkpoint), "nested/0000/about")
	if want := "index-tree " + sub.git("rev-parse", "HEAD^{tree}") + "\n"; !strings.Contains(about, want) {
		t.Errorf("no %q in:\n%s", want, about)
	}
}

// TestGitIndexUnkept: where commits are not kept alive the index is a file: nothing else would have its names.
func TestGitIndexUnkept(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t)
	f.opt.Never = []string{"secret"}
	if got := f.named(f.track().Checkpoint); got != "" {
		t.Errorf("the index has the name %s", got)
	}
	f.opt.Never = nil
	if got := f.named(f.track().Checkpoint); got == "" {
		t.Error("the index has no name, although commits are kept")
	}
}

// TestGitIndexResolved: how conflicts were resolved is in the index alone, even where its entries are those of the
// commit.
func TestGitIndexResolved(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t)
	f.stopInAMerge()
	f.git("checkout", "-q", "--ours", "file")
	f.git("add", "file")
	if f.git("write-tree") != f.git("rev-parse", "HEAD^{tree}") || f.git("ls-files", "--resolve-undo") == "" {
		t.Fatal("the index is not as it is meant to be")
	}
	if name := f.named(f.track().Checkpoint); name != "" {
		t.Errorf("the index has the name %s", name)
	}
}

// at calls do once, at a message.
type at struct {
	slog.Handler
	message string
	do      func()
}

func (a *at) Enabled(context.Context, slog.Level) bool { return true }

func (a *at) Handle(_ context.Context, rec slog.Record) error {
	if do := a.do; do != nil && rec.Message == a.message {
		a.do = nil
		do()
	}
	return nil
}

// TestGitIndexMeanwhile: a first capture records the index as it is at its end, although it has read it at its
// beginning.
func TestGitIndexMeanwhile(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{"nothing": "", "staged": "add new", "refreshed": "status", "committed": "commit -q -m new file"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newGitFixture(t)
			for i := range 80 {
				f.write(fmt.Sprintf("dir/file%d", i), "text")
			}
			f.o.Commit(f.root, "many")
			f.write("file", "other")
			f.write("new", "new")
			f.ageIndex(".git/index")
			meanwhile := func() {
				if change != "" {
					f.git(strings.Fields(change)...)
				}
			}
			handler := &at{slog.DiscardHandler, "packs borrowed", meanwhile}
			f.opt.Logger = slog.New(handler)
			got := f.track()
			if handler.do != nil {
				t.Fatal("nothing was borrowed")
			}
			f.opt.Logger = nil
			if words := f.moved(got.Checkpoint); len(words) > 0 {
				t.Errorf("the record differs from git: %q", words)
			}
			if want := name != "staged"; (f.named(got.Checkpoint) != "") != want {
				t.Errorf("the index has the name %q", f.named(got.Checkpoint))
			}
			if again := f.track(); again.Checkpoint != got.Checkpoint {
				t.Error("another checkpoint, although nothing has changed since")
			}
			f.sound()
		})
	}
}
