package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/bench/internal/benchtest"
	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

// Ignored dependencies are many, are of the size that was asked for, and are ignored.
func TestDependencies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := trees.Dependencies{Synthetic: trees.NewSynthetic(50, 0), Packages: 3}
	if err := d.Fill(dir); err != nil {
		t.Fatal(err)
	}
	size, err := trees.SizeOf(filepath.Join(dir, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if size.Files != 3*trees.PackageFiles || size.Bytes != int64(size.Files)*trees.PackageFileSize {
		t.Errorf("%+v", size)
	}
	if rules := string(benchtest.ReadFile(t, filepath.Join(dir, ".gitignore"))); !strings.Contains(rules, "\nnode_modules/\n") {
		t.Errorf("the rules are %q", rules)
	}
	if got := trees.NewDependencies(1, 0); int64(got.Packages)*trees.PackageFiles*trees.PackageFileSize < trees.IgnoredBytes*99/100 {
		t.Errorf("%d packages are less than 1 GiB", got.Packages)
	}
}

// Every tree is a clean repository of its own with one commit in one pack.
func TestCommitted(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	dir := t.TempDir()
	c := &trees.Committed{Corpus: trees.NewSynthetic(80, 0), Git: "git", Home: dir}
	for _, name := range []string{"a", "b"} {
		root := filepath.Join(dir, name)
		if err := c.Fill(root); err != nil {
			t.Fatal(err)
		}
		p := &system.Processes{Dir: root, Env: system.CleanEnv(dir)}
		for _, check := range []struct{ args, want string }{
			{"status --porcelain", ""},
			{"rev-list --count HEAD", "1"},
			{"diff-files --name-only", ""}, // the index knows the files by their times
		} {
			out, err := p.Run("", append([]string{"git"}, strings.Fields(check.args)...)...)
			if err != nil || strings.TrimSpace(out) != check.want {
				t.Errorf("%s: git %s: %q, %v", name, check.args, out, err)
			}
		}
		packs, err := filepath.Glob(filepath.Join(root, ".git", "objects", "pack", "*.pack"))
		if err != nil || len(packs) != 1 {
			t.Errorf("%s: packs %q, %v", name, packs, err)
		}
		count, err := p.Run("", "git", "count-objects")
		if err != nil || !strings.HasPrefix(count, "0 objects") {
			t.Errorf("%s: %s, %v", name, count, err)
		}
	}
}

// Loose objects stay loose, in every tree.
func TestCommittedLoose(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	dir := t.TempDir()
	c := &trees.Committed{Corpus: trees.NewSynthetic(80, 0), Git: "git", Home: dir, Loose: true}
	for _, name := range []string{"a", "b"} {
		root := filepath.Join(dir, name)
		if err := c.Fill(root); err != nil {
			t.Fatal(err)
		}
		p := &system.Processes{Dir: root, Env: system.CleanEnv(dir)}
		count, err := p.Run("", "git", "count-objects")
		if n, _, _ := strings.Cut(count, " "); err != nil || len(n) < 2 {
			t.Errorf("%s: %s, %v", name, count, err)
		}
		if packs, _ := filepath.Glob(filepath.Join(root, ".git", "objects", "pack", "*")); len(packs) > 0 {
			t.Errorf("%s: packs %q", name, packs)
		}
	}
	if _, err := parseOptions([]string{"-loose"}); err == nil {
		t.Error("-loose goes without -repository")
	}
}

// The floor of a way back leaves nothing behind, and takes time.
func TestTimeWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := &trees.Edits{Paths: []string{"a", "b/c", "b/d/e"}, Texts: [][]byte{[]byte("1"), []byte("2"), nil}}
	seconds, err := timeWrite(dir, e)
	if left, _ := os.ReadDir(dir); err != nil || seconds <= 0 || len(left) > 0 {
		t.Errorf("%v seconds, %v, left %v", seconds, err, left)
	}
	for i, p := range e.Paths {
		benchtest.WriteFile(t, e.File(dir, i), "old")
		if err := writeAll(dir, &trees.Edits{Paths: e.Paths[i : i+1], Texts: e.Texts[i : i+1]}, []string{dir}); err != nil || string(benchtest.ReadFile(t, filepath.Join(dir, p))) != string(e.Texts[i]) {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// What restic is told to leave out is what git ignores, whatever the names are.
func TestResticExcludes(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	dir := t.TempDir()
	root := filepath.Join(dir, "tree")
	benchtest.WriteFile(t, filepath.Join(root, ".gitignore"), "*.o\n/build/\n")
	benchtest.WriteFile(t, filepath.Join(root, "a[1].o"), "")
	benchtest.WriteFile(t, filepath.Join(root, "build", "x"), "")
	r := peers.NewRestic(peers.Setting{Root: root, Store: filepath.Join(dir, "store"), Home: dir, Git: "git"})
	benchtest.WriteFile(t, r.Excludes(), "")
	if err := r.Exclude(); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{filepath.Join(root, ".git"), filepath.Join(root, `a\[1].o`), filepath.Join(root, "build"), ""}, "\n")
	if got := string(benchtest.ReadFile(t, r.Excludes())); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// An older restic fails at symlinks that are there, which must not end a run, and at
// nothing else.
func TestResticSymlinks(t *testing.T) {
	t.Parallel()
	const link = "restic restore: exit status 1: ignoring error for /a/b: Symlink: symlink c /tree/a/b: file exists\n"
	const fatal = "Fatal: There were 2 errors"
	for text, want := range map[string]bool{
		link + link + fatal: true,
		link + "ignoring error for /d: open /tree/d: permission denied\n" + fatal: false,
		fatal: false,
	} {
		if got := peers.OnlySymlinks(text); got != want {
			t.Errorf("%v for %q", got, text)
		}
	}
	if why := peers.Missing(names.Restic, "git"); why != "" {
		t.Skip(why)
	}
	dir := t.TempDir()
	root := filepath.Join(dir, "tree")
	benchtest.WriteFile(t, filepath.Join(root, "a"), "before")
	if err := os.Symlink("a", filepath.Join(root, "link")); err != nil {
		t.Skipf("no symlinks here: %v", err)
	}
	program, _ := exec.LookPath("restic")
	r := peers.NewRestic(peers.Setting{Root: root, Store: filepath.Join(dir, "store"), Home: dir, Git: "git", Restic: program})
	if err := r.Reset(); err != nil {
		t.Fatal(err)
	}
	id, err := r.Track()
	if err != nil {
		t.Fatal(err)
	}
	benchtest.WriteFile(t, filepath.Join(root, "a"), "after")
	if err := r.Restore(id); err != nil {
		t.Fatal(err)
	}
	if got := string(benchtest.ReadFile(t, filepath.Join(root, "a"))); got != "before" {
		t.Errorf("a is %q", got)
	}
}

// The monitor is told to be missing, never left out silently.
func TestMissing(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	out, err := exec.Command("git", "version", "--build-options").Output()
	if err != nil {
		t.Fatal(err)
	}
	has := strings.Contains(string(out), "fsmonitor--daemon")
	if why := peers.Missing(names.Monitor, "git"); (why == "") != has {
		t.Errorf("git has a monitor: %v, but: %q", has, why)
	}
	if why := peers.Missing(names.Spec, "git"); why != "" {
		t.Error(why)
	}
}
