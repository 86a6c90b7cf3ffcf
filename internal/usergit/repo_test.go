package usergit

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

var background = context.Background()

// fixture is a repository with one commit, as the user's git sees it.
type fixture struct {
	*testing.T
	*Repo
	dir string
	git *gittest.Oracle
}

func newFixture(t *testing.T, tree gittest.Tree) *fixture {
	t.Helper()
	f := &fixture{T: t, dir: t.TempDir(), git: gittest.NewOracle(t)}
	f.git.Init(f.dir)
	gittest.Create(t, f.dir, tree)
	if len(tree) > 0 {
		f.git.Commit(f.dir, "first")
	}
	f.open(f.dir)
	return f
}

func (f *fixture) open(dir string) {
	f.Helper()
	var err error
	if f.Repo, err = Open(background, dir, f.git.Env()); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) run(args ...string) string {
	f.Helper()
	return f.git.In(f.dir, args...)
}

func (f *fixture) want(what, want, got string) {
	f.Helper()
	if want != got {
		f.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) write(name, content string) {
	f.Helper()
	f.must(os.WriteFile(filepath.Join(f.dir, name), []byte(content), 0o644))
}

func (f *fixture) base() Base {
	f.Helper()
	b, err := f.Base(background)
	f.must(err)
	return b
}

func (f *fixture) scratch() *Scratch {
	f.Helper()
	s, err := f.NewScratch(f.TempDir(), f.base().Head)
	f.must(err)
	f.Cleanup(func() { f.must(s.Close()) })
	return s
}

// wanted is a commit that gives paths new contents.
func (f *fixture) wanted(s *Scratch, contents map[string]string) Wanted {
	f.Helper()
	w := Wanted{Entries: map[string]Entry{}, Message: "agent\n"}
	for path, content := range contents {
		id, err := s.Add([]byte(content))
		f.must(err)
		w.Entries[path] = Entry{ModeFile, id}
	}
	w.Staged = w.Entries
	return w
}

func TestOpenBelowTheTop(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"sub/dir/a": gittest.File("a\n")})
	link := filepath.Join(t.TempDir(), "link")
	if err := gittest.Symlink(filepath.Join(f.dir, "sub", "dir"), link); err != nil {
		t.Skip(err)
	}
	real, err := filepath.EvalSymlinks(f.dir)
	f.must(err)
	for _, dir := range []string{filepath.Join(f.dir, "sub", "dir"), link} {
		f.open(dir)
		f.want("prefix", "sub/dir/", f.Prefix)
		f.want("top", real, f.Top)
		f.want("git directory", filepath.Join(real, ".git"), f.GitDir)
		f.want("objects", filepath.Join(real, ".git", "objects"), f.objects())
	}
}

func TestOpenInALinkedWorktree(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"sub/a": gittest.File("a\n")})
	linked := filepath.Join(t.TempDir(), "linked")
	f.run("worktree", "add", "-q", "--detach", linked)
	f.open(filepath.Join(linked, "sub"))
	if _, err := os.Stat(f.objects()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(f.indexPath()); err != nil || !strings.Contains(f.GitDir, "worktrees") {
		t.Error(f.GitDir, err)
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	h := f.base().Head
	f.want("tree of no commit", f.git.Feed(f.dir, "", "hash-object", "-t", "tree", "--stdin"), h.Tree+"\n")
	if h.Commit != "" || h.Branch == "" {
		t.Errorf("no commit yet: %+v", h)
	}
	f.write("a", "a\n")
	first := f.git.Commit(f.dir, "first")
	f.run("checkout", "-q", "-b", "topic/x")
	second := f.git.Commit(f.dir, "second")
	tree := strings.TrimSpace(f.run("rev-parse", "HEAD^{tree}"))
	if h, want := f.base().Head, (Head{second, first, tree, "topic/x"}); h != want {
		t.Errorf("got %+v, want %+v", h, want)
	}
	f.run("tag", "topic/x") // the short name is ambiguous now
	f.run("checkout", "-q", "--detach", first)
	if h, want := f.base().Head, (Head{first, "", tree, ""}); h != want {
		t.Errorf("got %+v, want %+v", h, want)
	}
	f.write(".git/HEAD", strings.Repeat("1", 40)+"\n")
	if h, err := f.Head(background); err == nil {
		t.Errorf("a commit that is not there: %+v", h)
	}
}

func TestReached(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	first := f.base().Head.Commit
	f.run("checkout", "-q", "-b", "side")
	side := f.git.Commit(f.dir, "side")
	f.run("checkout", "-q", "-")
	second := f.git.Commit(f.dir, "second")
	missing := strings.Repeat("1", 40)
	got, err := f.Reached(background, []string{first, side, missing, second})
	f.must(err)
	if want := map[string]bool{first: true, second: true}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	f.run("checkout", "-q", "--orphan", "new")
	if got, err = f.Reached(background, []string{first}); err != nil || len(got) > 0 {
		t.Errorf("before the first commit: %v, %v", got, err)
	}
}

func TestLookupAndStaged(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n"), "d/[b]*": gittest.File("b\n"), ":(top)c": gittest.File("c\n"), "n\u00e4me": gittest.File("n\n")})
	tree := f.base().Head.Tree
	paths := []string{"a", "d", "d/[b]*", ":(top)c", "n\u00e4me", "none", "a/below"}
	for range 2000 { // more than the arguments of one git
		paths = append(paths, "d/of which there is none in the tree")
	}
	found, err := f.Lookup(background, tree, paths)
	f.must(err)
	list := f.git.LsTree(f.dir, "HEAD")
	for path, e := range found {
		if list[path] != e.Mode+" blob "+e.ID {
			t.Errorf("%s: %v, git has %s", path, e, list[path])
		}
	}
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, []string{":(top)c", "a", "d/[b]*", "n\u00e4me"}) {
		t.Errorf("found %q", got)
	}
	f.write("a", "staged\n")
	f.run("add", "a")
	f.run("rm", "-q", "--cached", "d/[[]b]*")
	f.write("later", "l\n")
	f.run("add", "-N", "later")
	staged, err := f.Staged(background, tree)
	f.must(err)
	id := strings.TrimSpace(f.run("rev-parse", ":a"))
	if want := map[string]Moved{"a": {found["a"], Entry{ModeFile, id}}, "d/[b]*": {found["d/[b]*"], Entry{}}}; !maps.Equal(staged, want) {
		t.Errorf("staged %v, want %v", staged, want)
	}
}

// TestIgnoredTakesPathsAsTheyAre asks about names that git would read as patterns: an editor that is given
// :w makes such a file by mistake.
func TestIgnoredTakesPathsAsTheyAre(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("*.log\n:q\n")})
	got, err := f.Ignored(background, []string{":(glob)*", ":/a", ":w", "*", "a.log", "dir/:q", "[a]"})
	f.must(err)
	f.want("ignored", "a.log dir/:q", strings.Join(slices.Sorted(maps.Keys(got)), " "))
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			f := &fixture{T: t, dir: t.TempDir(), git: gittest.NewOracle(t)}
			if format != "sha1" {
				f.git.NeedVersion(2, 29)
				f.git.Init(f.dir, "--object-format="+format)
			} else {
				f.git.Init(f.dir)
			}
			f.open(f.dir)
			s := f.scratch()
			for _, content := range []string{"", "a\n", "no line feed", "\x00\xff\r\n", strings.Repeat("long\n", 50000)} {
				id, err := s.Add([]byte(content))
				f.must(err)
				f.want("id", f.git.Feed(f.dir, content, "hash-object", "--stdin"), id+"\n")
				got, _, err := s.Blob(background, id, 1<<20)
				if err != nil || string(got) != content {
					t.Errorf("%.20q: got %.20q, %v", content, got, err)
				}
				if _, tooLarge, err := s.Blob(background, id, 3); err != nil || tooLarge != (len(content) > 3) {
					t.Errorf("%.20q: too large %v, %v", content, tooLarge, err)
				}
			}
			if _, _, err := s.Blob(background, strings.Repeat("1", len(f.base().Head.Tree)), 10); err == nil {
				t.Error("a blob that is not there was read")
			}
		})
	}
}

func TestCleanAsGitAdds(t *testing.T) {
	t.Parallel()
	rules := "*.txt text\n*.up filter=up\n*.id ident\n"
	f := newFixture(t, gittest.Tree{"keeps": gittest.File("1\r\n2\r\n"), ".gitattributes": gittest.File(rules)})
	f.run("config", "core.autocrlf", "true")
	f.run("config", "filter.up.clean", "tr a-z A-Z")
	contents := map[string]string{"keeps": "1\r\n2\r\n3\r\n", "new": "1\r\n", "d/a.txt": "x\r\ny\n", "d/b.up": "shout\n", "c.id": "$Id: 1 $\n", "bin": "\x00\r\n"}
	s := f.scratch()
	found, err := f.Lookup(background, f.base().Head.Tree, []string{"keeps", Attributes})
	f.must(err)
	f.must(s.Seed(background, found))
	files := make(map[string]func() (io.ReadCloser, error))
	for name, content := range contents {
		files[name] = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }
	}
	ids, err := s.Clean(background, files)
	f.must(err)
	f.must(os.Mkdir(filepath.Join(f.dir, "d"), 0o755))
	for name, content := range contents {
		f.write(name, content)
	}
	f.run("add", "-A")
	for name := range contents {
		f.want(name, f.run("rev-parse", ":"+name), ids[name]+"\n")
	}
}

// TestADeadlineEndsGit: the error is that of the context, too, not only that of a signal.
func TestADeadlineEndsGit(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("git's shell does not end there with git")
	}
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := f.output(ctx, call{args: []string{"-c", "alias.wait=!exec sleep 60", "wait"}})
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, new(*exec.ExitError)) {
		t.Errorf("%v", err)
	}
}
