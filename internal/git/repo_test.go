package git

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
)

// place makes a directory to look for a repository from.
type place func(t *testing.T, o *gittest.Oracle, dir string) (from string)

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// tempDir is t.TempDir without symbolic links.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// committed makes a repository with one commit.
func committed(t *testing.T, o *gittest.Oracle, dir string, args ...string) string {
	t.Helper()
	o.Init(dir, args...)
	write(t, filepath.Join(dir, "f"), "content\n")
	o.Commit(dir, "one")
	return dir
}

// dotGitFile makes a work tree below an outer repository whose .git is a file.
func dotGitFile(content string) place {
	return func(t *testing.T, o *gittest.Oracle, dir string) string {
		o.Init(dir)
		write(t, filepath.Join(dir, "in", ".git"), content)
		return filepath.Join(dir, "in")
	}
}

// brokenGitDir makes a repository below an outer one and then harms its .git.
func brokenGitDir(harm func(t *testing.T, dotgit string)) place {
	return func(t *testing.T, o *gittest.Oracle, dir string) string {
		o.Init(dir)
		o.Init(filepath.Join(dir, "in"))
		harm(t, filepath.Join(dir, "in", ".git"))
		return filepath.Join(dir, "in")
	}
}

func remove(name string) func(*testing.T, string) {
	return func(t *testing.T, dotgit string) {
		if err := os.RemoveAll(filepath.Join(dotgit, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func overwrite(name, content string) func(*testing.T, string) {
	return func(t *testing.T, dotgit string) {
		remove(name)(t, dotgit)
		write(t, filepath.Join(dotgit, name), content)
	}
}

var places = map[string]place{
	"no repository": func(t *testing.T, _ *gittest.Oracle, dir string) string { return dir },
	"top":           func(t *testing.T, o *gittest.Oracle, dir string) string { return o.Init(dir) },
	"below": func(t *testing.T, o *gittest.Oracle, dir string) string {
		return mkdir(t, filepath.Join(o.Init(dir), "a", "b", "c"))
	},
	"sha256": func(t *testing.T, o *gittest.Oracle, dir string) string {
		return mkdir(t, filepath.Join(o.Init(dir, "--object-format=sha256"), "a"))
	},
	"linked worktree": func(t *testing.T, o *gittest.Oracle, dir string) string {
		committed(t, o, filepath.Join(dir, "main"))
		o.In(filepath.Join(dir, "main"), "worktree", "add", "-q", "../linked")
		return mkdir(t, filepath.Join(dir, "linked", "sub"))
	},
	"linked worktree inside the main one": func(t *testing.T, o *gittest.Oracle, dir string) string {
		committed(t, o, dir)
		o.In(dir, "worktree", "add", "-q", "wt")
		return filepath.Join(dir, "wt")
	},
	"linked worktree of a bare repository": func(t *testing.T, o *gittest.Oracle, dir string) string {
		committed(t, o, filepath.Join(dir, "src"))
		o.In(filepath.Join(dir, "src"), "clone", "-q", "--bare", ".", "../p.git")
		o.In(filepath.Join(dir, "p.git"), "worktree", "add", "-q", "wt")
		return filepath.Join(dir, "p.git", "wt")
	},
	"linked worktree with its own configuration": func(t *testing.T, o *gittest.Oracle, dir string) string {
		main := committed(t, o, filepath.Join(dir, "main"))
		o.In(main, "worktree", "add", "-q", "../linked")
		o.In(main, "config", "extensions.worktreeConfig", "true")
		o.In(main, "config", "core.bare", "false")
		o.In(main, "config", "--worktree", "core.bare", "true")
		return filepath.Join(dir, "linked")
	},
	"main worktree bare by its own configuration": func(t *testing.T, o *gittest.Oracle, dir string) string {
		committed(t, o, dir)
		o.In(dir, "config", "extensions.worktreeConfig", "true")
		o.In(dir, "config", "--worktree", "core.bare", "true")
		return dir
	},
	"submodule": func(t *testing.T, o *gittest.Oracle, dir string) string {
		committed(t, o, filepath.Join(dir, "lib"))
		committed(t, o, filepath.Join(dir, "super"))
		o.In(filepath.Join(dir, "super"), "-c", "protocol.file.allow=always", "submodule", "add", "-q", "../lib", "deps/lib")
		return mkdir(t, filepath.Join(dir, "super", "deps", "lib", "x"))
	},
	"nested repository": func(t *testing.T, o *gittest.Oracle, dir string) string {
		o.Init(dir)
		return mkdir(t, filepath.Join(o.Init(filepath.Join(dir, "in", "ner")), "x"))
	},
	"separate git directory": func(t *testing.T, o *gittest.Oracle, dir string) string {
		return o.Init(filepath.Join(dir, "w"), "--separate-git-dir", filepath.Join(dir, "elsewhere"))
	},
	"git directory behind a link": func(t *testing.T, o *gittest.Oracle, dir string) string {
		o.Init(filepath.Join(dir, "w"))
		if err := os.Rename(filepath.Join(dir, "w", ".git"), filepath.Join(dir, "real")); err != nil {
			t.Fatal(err)
		}
		symlink(t, "../real", filepath.Join(dir, "w", ".git"))
		return filepath.Join(dir, "w")
	},
	"reached through a link": func(t *testing.T, o *gittest.Oracle, dir string) string {
		mkdir(t, filepath.Join(o.Init(filepath.Join(dir, "w")), "sub"))
		symlink(t, "w/sub", filepath.Join(dir, "link"))
		return filepath.Join(dir, "link")
	},
	"bare repository": func(t *testing.T, o *gittest.Oracle, dir string) string {
		return o.Init(dir, "--bare")
	},
	"inside of a bare repository": func(t *testing.T, o *gittest.Oracle, dir string) string {
		return filepath.Join(o.Init(dir, "--bare"), "refs")
	},
	"bare repository below a work tree": func(t *testing.T, o *gittest.Oracle, dir string) string {
		o.Init(dir)
		return o.Init(filepath.Join(dir, "fixture.git"), "--bare")
	},
	"bare with .git": func(t *testing.T, o *gittest.Oracle, dir string) string {
		o.In(o.Init(dir), "config", "core.bare", "true")
		return mkdir(t, filepath.Join(dir, "sub"))
	},
	"git directory itself": func(t *testing.T, o *gittest.Oracle, dir string) string {
		return filepath.Join(o.Init(dir), ".git")
	},
	"inside of the git directory": func(t *testing.T, o *gittest.Oracle, dir string) string {
		return filepath.Join(o.Init(dir), ".git", "refs", "heads")
	},
	"core.worktree above": func(t *testing.T, o *gittest.Oracle, dir string) string {
		in := mkdir(t, filepath.Join(o.Init(filepath.Join(dir, "a", "b")), "c"))
		o.In(filepath.Join(dir, "a", "b"), "config", "core.worktree", "../..")
		return in
	},
	"core.worktree elsewhere": func(t *testing.T, o *gittest.Oracle, dir string) string {
		mkdir(t, filepath.Join(dir, "other"))
		o.In(o.Init(filepath.Join(dir, "w")), "config", "core.worktree", filepath.Join(dir, "other"))
		return filepath.Join(dir, "w")
	},
	"core.worktree itself": func(t *testing.T, o *gittest.Oracle, dir string) string {
		o.In(o.Init(dir), "config", "core.worktree", "..")
		return mkdir(t, filepath.Join(dir, "sub"))
	},
	"bare without a format version": func(t *testing.T, o *gittest.Oracle, dir string) string {
		write(t, filepath.Join(o.Init(dir), ".git", "config"), "[core]\nbare = true\nworktree = ../..\n[extensions]\nobjectFormat = sha256\n")
		return dir
	},
	"core.bare twice": func(t *testing.T, o *gittest.Oracle, dir string) string {
		write(t, filepath.Join(o.Init(dir), ".git", "config"), "[core]\nrepositoryFormatVersion = 0\nbare\nbare = off\n")
		return dir
	},
	"no configuration": func(t *testing.T, o *gittest.Oracle, dir string) string {
		remove("config")(t, filepath.Join(o.Init(dir), ".git"))
		return dir
	},
	"detached HEAD": func(t *testing.T, o *gittest.Oracle, dir string) string {
		o.In(committed(t, o, dir), "checkout", "-q", "--detach")
		return dir
	},
	"HEAD as a link": func(t *testing.T, o *gittest.Oracle, dir string) string {
		dotgit := filepath.Join(o.Init(dir), ".git")
		remove("HEAD")(t, dotgit)
		symlink(t, "refs/heads/main", filepath.Join(dotgit, "HEAD"))
		return dir
	},
	"packed refs only": func(t *testing.T, o *gittest.Oracle, dir string) string {
		o.In(committed(t, o, dir), "pack-refs", "--all")
		return dir
	},
	".git without HEAD":     brokenGitDir(remove("HEAD")),
	".git without objects":  brokenGitDir(remove("objects")),
	".git without refs":     brokenGitDir(remove("refs")),
	"HEAD empty":            brokenGitDir(overwrite("HEAD", "")),
	"HEAD garbage":          brokenGitDir(overwrite("HEAD", "garbage\n")),
	"HEAD outside refs":     brokenGitDir(overwrite("HEAD", "ref: heads/main\n")),
	"HEAD with blanks":      brokenGitDir(overwrite("HEAD", "ref:   refs/heads/main   \n")),
	"HEAD without blank":    brokenGitDir(overwrite("HEAD", "ref:refs/heads/main")),
	"HEAD half an id":       brokenGitDir(overwrite("HEAD", strings.Repeat("a", 39)+"\n")),
	"commondir to nowhere":  brokenGitDir(overwrite("commondir", "nowhere\n")),
	".git empty":            brokenGitDir(func(t *testing.T, d string) { remove("")(t, d); mkdir(t, d) }),
	".git a dangling link":  brokenGitDir(func(t *testing.T, d string) { remove("")(t, d); symlink(t, "x", d) }),
	".git a circular link":  brokenGitDir(func(t *testing.T, d string) { remove("")(t, d); symlink(t, ".git", d) }),
	"HEAD a link elsewhere": brokenGitDir(func(t *testing.T, d string) { remove("HEAD")(t, d); symlink(t, "config", d+"/HEAD") }),
	"HEAD a FIFO": brokenGitDir(func(t *testing.T, d string) {
		remove("HEAD")(t, d)
		gittest.Create(t, d, gittest.Tree{"HEAD": gittest.FIFO()})
	}),
	".git a FIFO": brokenGitDir(func(t *testing.T, d string) {
		remove("")(t, d)
		gittest.Create(t, filepath.Dir(d), gittest.Tree{".git": gittest.FIFO()})
	}),
	".git file garbage":                 dotGitFile("garbage"),
	".git file empty":                   dotGitFile(""),
	".git file without path":            dotGitFile("gitdir: \n"),
	".git file to nowhere":              dotGitFile("gitdir: nowhere\n"),
	".git file to itself":               dotGitFile("gitdir: .git\n"),
	".git file to a directory":          dotGitFile("gitdir: ..\n"),
	".git file to the outer":            dotGitFile("gitdir: ../.git\n"),
	".git file with CRLF":               dotGitFile("gitdir: ../.git\r\n"),
	".git file with two lines":          dotGitFile("gitdir: ../.git\nmore\n"),
	".git file without blank":           dotGitFile("gitdir:../.git\n"),
	".git file too large":               dotGitFile("gitdir: " + strings.Repeat("/", 1<<20) + "\n"),
	".git file of NULs":                 dotGitFile("gitdir: \x00\x00\n"),
	".git file with a blank at the end": dotGitFile("gitdir: ../.git \n"),
}

// Find says what git says, where git says something.
func TestFind(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links and FIFOs as on Unix")
	}
	o := gittest.NewOracle(t)
	for name, make := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := o.For(t)
			dir := tempDir(t)
			from := make(t, o, mkdir(t, filepath.Join(dir, "w")))
			got, err := Find(from)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case name == "HEAD a FIFO" || name == ".git a FIFO" || name == ".git a circular link":
				// git would wait for the first for ever, and gives up at the others from 2.54 on, which would leave
				// the rules of the outer repository out.
				if got == nil || got.Top != filepath.Join(dir, "w") {
					t.Errorf("found %+v, want the outer repository", got)
				}
			default:
				compareWithGit(t, o, from, dir, got)
			}
		})
	}
}

// compareWithGit asks git about the directory from, not to look above ceiling.
func compareWithGit(t *testing.T, o *gittest.Oracle, from, ceiling string, got *Repo) {
	t.Helper()
	ask := func(args ...string) (string, error) {
		out, err := o.Try(ceiling, append([]string{"-C", from, "rev-parse"}, args...)...)
		return strings.TrimSuffix(out, "\n"), err
	}
	gitDir, err := ask("--absolute-git-dir")
	if err != nil {
		if got != nil {
			t.Errorf("found %+v, git says %v", *got, err)
		}
		return
	}
	if got == nil {
		t.Fatalf("found nothing, git says %s", gitDir)
	}
	common, err := ask("--git-common-dir")
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(resolved(from), common)
	}
	if got.GitDir != gitDir || got.CommonDir != resolved(common) {
		t.Errorf("git directories %s and %s, git says %s and %s", got.GitDir, got.CommonDir, gitDir, resolved(common))
	}
	format, _ := ask("--show-object-format")
	bare, _ := ask("--is-bare-repository")
	if got.SHA256 != (format == "sha256") || got.Bare != (bare == "true") {
		t.Errorf("SHA256 %v, bare %v, git says %s and %s", got.SHA256, got.Bare, format, bare)
	}
	top := ""
	if inside, _ := ask("--is-inside-work-tree"); inside == "true" {
		if top, err = ask("--show-toplevel"); err != nil {
			t.Fatal(err)
		}
	}
	if got.Top != top {
		t.Errorf("top %q, git says %q", got.Top, top)
	}
	if top == "" {
		return
	}
	exclude, err := ask("--git-path", "info/exclude")
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(exclude) {
		exclude = filepath.Join(resolved(from), exclude)
	}
	if s, err := got.IgnoreSettings(UserConfig{}); err != nil || resolved(s.InfoExclude) != resolved(exclude) {
		t.Errorf("info/exclude is %s (%v), git says %s", s.InfoExclude, err, exclude)
	}
}

func TestFindErrors(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{filepath.Join(t.TempDir(), "missing"), "nul\x00byte"} {
		if r, err := Find(dir); err == nil {
			t.Errorf("Find(%q) = %+v, want an error", dir, r)
		} else if !strings.Contains(err.Error(), dir) {
			t.Errorf("Find(%q): %v does not name it", dir, err)
		}
	}
}

// Submodule moved by hand: git gives up, its .git still tells what belongs to it.
func TestFindWorktreeMissing(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := o.Init(tempDir(t))
	o.In(dir, "config", "core.worktree", "../../gone")
	if r, err := Find(dir); err != nil || r == nil || r.Top != dir {
		t.Errorf("found %+v, %v, want %s", r, err, dir)
	}
}

func TestFindStopsAtFileSystems(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := o.Init(tempDir(t))
	mount := mkdir(t, filepath.Join(dir, "mnt"))
	below := mkdir(t, filepath.Join(mount, "a", "b"))
	same := func(a, b string) bool { return realpath.Within(a, mount) == realpath.Within(b, mount) }
	if r := ascend(below, same); r != nil {
		t.Errorf("found %+v beyond the file system", r)
	}
	if r := ascend(below, func(_, _ string) bool { return true }); r == nil || r.Top != dir {
		t.Errorf("found %+v, want %s", r, dir)
	}
	o.Init(filepath.Join(mount, "a"))
	if r := ascend(below, same); r == nil || r.Top != filepath.Join(mount, "a") {
		t.Errorf("found %+v, want the repository on the same file system", r)
	}
	if !sameDevice(dir, below) || runtime.GOOS != "windows" && sameDevice(dir, filepath.Join(dir, "missing")) {
		t.Error("sameDevice cannot tell")
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := tempDir(t)
	main := committed(t, o, filepath.Join(dir, "main"))
	o.In(main, "worktree", "add", "-q", "../linked")
	o.In(main, "clone", "-q", "--bare", ".", "../p.git")
	o.In(filepath.Join(dir, "p.git"), "worktree", "add", "-q", "wt")
	for _, test := range []struct {
		from, path string
		want       bool
	}{
		{"main", "main", false},
		{"main", "main/f", false},
		{"main", "main/.git", true},
		{"main", "main/.git/refs/heads", true},
		{"main", "main/.gitx", false},
		{"main/.git", "main/.git", true},
		{"linked", "linked/f", false},
		{"linked", "main/.git/worktrees/linked/HEAD", true},
		{"linked", "main/.git/config", true},
		{"linked", "main/f", false},
		{"p.git/wt", "p.git/wt/f", false},
		{"p.git/wt", "p.git/refs", true},
		{"p.git/wt", "p.git/worktrees/wt/HEAD", true},
		{"p.git", "p.git/refs", true},
		{"p.git", "p.git", true},
	} {
		r, err := Find(filepath.Join(dir, filepath.FromSlash(test.from)))
		if err != nil || r == nil {
			t.Fatalf("%s: %v, %v", test.from, r, err)
		}
		if got := r.Holds(filepath.Join(dir, filepath.FromSlash(test.path))); got != test.want {
			t.Errorf("repository of %s holds %s: %v, want %v", test.from, test.path, got, test.want)
		}
	}
}

// Nothing that Find and IgnoreSettings do leaves a trace in the repository.
func TestFindWritesNothing(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := committed(t, o, tempDir(t))
	before := gittest.Manifest(t, dir, gittest.WantDirTimes)
	r, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.IgnoreSettings(UserConfig{Home: dir}); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadIndex(r.IndexPath(), false); err != nil {
		t.Fatal(err)
	}
	gittest.AssertEqual(t, "the repository", before, gittest.Manifest(t, dir, gittest.WantDirTimes))
}
