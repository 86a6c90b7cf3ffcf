package cairn_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// namedGit is a root whose repository only the options name: it has no .git.
type namedGit struct {
	*fixture
	o      *gittest.Oracle
	gitDir string
}

func newNamedGit(t *testing.T, gitDir func(root string) string) *namedGit {
	t.Helper()
	gittest.NeedGit(t)
	f := &namedGit{fixture: newFixture(t, nil), o: gittest.NewOracle(t)}
	f.gitDir = gitDir(f.root)
	f.o.In(f.root, "init", "-q", "--bare", "--initial-branch=main", f.gitDir)
	f.opt.GitDir, f.opt.GitWorkTree = f.gitDir, f.root
	f.write("rules", "*.tmp\n")
	f.o.In(f.root, "--git-dir="+f.gitDir, "config", "core.excludesFile", f.path("rules"))
	if err := os.WriteFile(filepath.Join(f.gitDir, "info", "exclude"), []byte("*.log\n/.dot\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two", "three"} {
		f.write("file", text+"\n")
		f.git("add", "-A")
		f.git("commit", "-q", "-m", text)
	}
	f.git("branch", "topic")
	for _, text := range []string{"x", "y"} {
		f.write("file", text)
		f.git("stash", "push", "-q", "-m", text)
	}
	f.write("staged", "s")
	f.git("add", "staged")
	for _, name := range []string{"new", "a.log", "b.tmp"} {
		f.write(name, name)
	}
	return f
}

func (f *namedGit) git(args ...string) string {
	f.Helper()
	return f.o.In(f.root, append([]string{"--git-dir=" + f.gitDir, "--work-tree=" + f.root}, args...)...)
}

// look is what git says of the repository.
func (f *namedGit) look() string {
	f.Helper()
	var b strings.Builder
	for _, args := range []string{"symbolic-ref HEAD", "for-each-ref --format=%(refname)|%(objectname)", "ls-files --stage -v", "stash list", "status --porcelain", "fsck --strict"} {
		fmt.Fprintf(&b, "git %s:\n%s\n", args, f.git(strings.Fields(args)...))
	}
	return b.String()
}

// back brings git back to a checkpoint.
func (f *namedGit) back(checkpoint string) error {
	f.Helper()
	plan, err := f.repo().RestoreGit(background, checkpoint, cairn.GitRestoreOptions{DryRun: true})
	if err != nil {
		return err
	}
	_, err = f.repo().RestoreGit(background, checkpoint, cairn.GitRestoreOptions{Plan: plan.PlanID})
	return err
}

// TestGitNamed: a repository that only the options name is recorded, its rules count, and it goes back,
// also where it is gone. Its directory is never captured.
func TestGitNamed(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for name, gitDir := range map[string]func(string) string{
		"outside": func(string) string { return filepath.Join(realDir(t), "dot.git") },
		"inside":  func(root string) string { return filepath.Join(root, ".dot") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newNamedGit(t, gitDir)
			was := gittest.Manifest(t, f.gitDir, gittest.WantTimes)
			first := f.track()
			gittest.AssertEqual(t, "the git directory", was, gittest.Manifest(t, f.gitDir, gittest.WantTimes))
			if on := f.repo().GitProtection(); !on.On || on.Reason != "" {
				t.Errorf("protection %+v", on)
			}
			held := strings.Fields(f.o.In(f.repo().StoreDir(), "ls-tree", "-r", "--name-only", first.Hash))
			want := strings.Fields(f.git("ls-files", "--cached", "--others", "--exclude-standard"))
			slices.Sort(want)
			if !slices.Equal(held, want) {
				t.Errorf("captured %q, git has %q", held, want)
			}
			before := f.look()
			f.git("checkout", "-q", "-f", "-b", "other", "HEAD~1")
			f.git("branch", "-q", "-D", "main", "topic")
			f.git("stash", "clear")
			f.git("reflog", "expire", "--expire=now", "--all")
			f.git("gc", "-q", "--prune=now")
			moved, err := f.repo().GitMoved(background, first.Checkpoint, "")
			if text := strings.Join(moved, ", "); err != nil || text != "HEAD: main before, other now, 2 branches deleted, 1 branch created, 2 stashes dropped, index changed" {
				t.Errorf("moved %q, %v", text, err)
			}
			f.restoredWith(first, before)
			if err := os.RemoveAll(f.gitDir); err != nil {
				t.Fatal(err)
			}
			f.restoredWith(first, before)
			if f.exists(".git") {
				t.Error("the root has a .git")
			}
		})
	}
}

// restoredWith brings files and git back to a checkpoint, at which git has looked like this.
func (f *namedGit) restoredWith(first *cairn.TrackResult, look string) {
	f.Helper()
	f.restore(first.Hash)
	if err := f.back(first.Checkpoint); err != nil {
		f.Fatal(err)
	}
	if got := f.look(); got != look {
		f.Fatalf("git says\n%s\nwant\n%s", got, look)
	}
}

// TestGitDirectoryInTheRoot: the git directory is not captured under whatever name it lies in the root.
func TestGitDirectoryInTheRoot(t *testing.T) {
	t.Parallel()
	gittest.NeedGit(t)
	f, o := newFixture(t, gittest.Tree{"file": gittest.File("x")}), gittest.NewOracle(t)
	o.In(f.root, "init", "-q", "--bare", "deep/named")
	f.opt.GitDir, f.opt.GitWorkTree = f.path("deep/named"), f.root
	if got := f.files(f.trackAll()); !slices.Equal(got, []string{"file"}) {
		t.Errorf("captured %q", got)
	}
	separate := newFixture(t, gittest.Tree{"file": gittest.File("x")})
	o.Init(separate.root, "--separate-git-dir="+separate.path("named"))
	if got := separate.files(separate.trackAll()); !slices.Equal(got, []string{"file"}) {
		t.Errorf("captured beside a .git file: %q", got)
	}
}

// TestGitNamedOther: one repository does not go back to the state of another, whether the other is named
// now or not.
func TestGitNamedOther(t *testing.T) {
	t.Parallel()
	f := newNamedGit(t, func(string) string { return filepath.Join(realDir(t), "dot.git") })
	first := f.track().Checkpoint
	was := f.look()
	other := newNamedGit(t, func(string) string { return filepath.Join(realDir(t), "dot.git") })
	other.git("branch", "more")
	f.closeAll()
	f.opt.GitDir = other.gitDir
	if err := f.back(first); !errors.Is(err, cairn.ErrGitRefused) || !strings.Contains(err.Error(), f.gitDir) {
		t.Errorf("with another one named: %v", err)
	}
	f.closeAll()
	f.opt.GitDir, f.opt.GitWorkTree = "", ""
	if err := f.back(first); !errors.Is(err, cairn.ErrGitRefused) || !strings.Contains(err.Error(), f.gitDir) {
		t.Errorf("with none named: %v", err)
	}
	f.o.Init(f.root)
	if err := f.back(first); !errors.Is(err, cairn.ErrGitRefused) {
		t.Errorf("with one around: %v", err)
	}
	if got := f.look(); got != was {
		t.Errorf("git says\n%s\nwant\n%s", got, was)
	}
}

// realDir is a new directory by its real path.
func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
