package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Ignored dependencies are many, are of the size that was asked for, and are ignored.
func TestDependencies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := dependencies{newSynthetic(50, 0), 3}
	if err := d.fill(dir); err != nil {
		t.Fatal(err)
	}
	size, err := sizeOf(filepath.Join(dir, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if size.Files != 3*packageFiles || size.Bytes != int64(size.Files)*packageFileSize {
		t.Errorf("%+v", size)
	}
	if rules := string(readFile(t, filepath.Join(dir, ".gitignore"))); !strings.Contains(rules, "\nnode_modules/\n") {
		t.Errorf("the rules are %q", rules)
	}
	if got := newDependencies(1, 0); int64(got.packages)*packageFiles*packageFileSize < ignoredBytes*99/100 {
		t.Errorf("%d packages are less than 1 GiB", got.packages)
	}
}

// Every tree is a clean repository of its own with one commit in one pack.
func TestCommitted(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	dir := t.TempDir()
	c := &committed{corpus: newSynthetic(80, 0), git: "git", home: dir}
	for _, name := range []string{"a", "b"} {
		root := filepath.Join(dir, name)
		if err := c.fill(root); err != nil {
			t.Fatal(err)
		}
		p := &processes{dir: root, env: cleanEnv(dir)}
		for _, check := range []struct{ args, want string }{
			{"status --porcelain", ""},
			{"rev-list --count HEAD", "1"},
			{"diff-files --name-only", ""}, // the index knows the files by their times
		} {
			out, err := p.run("", append([]string{"git"}, strings.Fields(check.args)...)...)
			if err != nil || strings.TrimSpace(out) != check.want {
				t.Errorf("%s: git %s: %q, %v", name, check.args, out, err)
			}
		}
		packs, err := filepath.Glob(filepath.Join(root, ".git", "objects", "pack", "*.pack"))
		if err != nil || len(packs) != 1 {
			t.Errorf("%s: packs %q, %v", name, packs, err)
		}
		count, err := p.run("", "git", "count-objects")
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
	c := &committed{corpus: newSynthetic(80, 0), git: "git", home: dir, loose: true}
	for _, name := range []string{"a", "b"} {
		root := filepath.Join(dir, name)
		if err := c.fill(root); err != nil {
			t.Fatal(err)
		}
		p := &processes{dir: root, env: cleanEnv(dir)}
		count, err := p.run("", "git", "count-objects")
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
	e := &edits{paths: []string{"a", "b/c", "b/d/e"}, texts: [][]byte{[]byte("1"), []byte("2"), nil}}
	seconds, err := timeWrite(dir, e)
	if left, _ := os.ReadDir(dir); err != nil || seconds <= 0 || len(left) > 0 {
		t.Errorf("%v seconds, %v, left %v", seconds, err, left)
	}
	for i, p := range e.paths {
		writeFile(t, e.file(dir, i), "old")
		if err := writeAll(dir, &edits{paths: e.paths[i : i+1], texts: e.texts[i : i+1]}, []string{dir}); err != nil || string(readFile(t, filepath.Join(dir, p))) != string(e.texts[i]) {
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
	writeFile(t, filepath.Join(root, ".gitignore"), "*.o\n/build/\n")
	writeFile(t, filepath.Join(root, "a[1].o"), "")
	writeFile(t, filepath.Join(root, "build", "x"), "")
	r := newRestic(setting{Root: root, Store: filepath.Join(dir, "store"), Home: dir, Git: "git"})
	writeFile(t, r.excludes(), "")
	if err := r.exclude(); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{filepath.Join(root, ".git"), filepath.Join(root, `a\[1].o`), filepath.Join(root, "build"), ""}, "\n")
	if got := string(readFile(t, r.excludes())); got != want {
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
		if got := onlySymlinks(text); got != want {
			t.Errorf("%v for %q", got, text)
		}
	}
	if why := missing(nameRestic, "git"); why != "" {
		t.Skip(why)
	}
	dir := t.TempDir()
	root := filepath.Join(dir, "tree")
	writeFile(t, filepath.Join(root, "a"), "before")
	if err := os.Symlink("a", filepath.Join(root, "link")); err != nil {
		t.Skipf("no symlinks here: %v", err)
	}
	program, _ := exec.LookPath("restic")
	r := newRestic(setting{Root: root, Store: filepath.Join(dir, "store"), Home: dir, Git: "git", Restic: program})
	if err := r.Reset(); err != nil {
		t.Fatal(err)
	}
	id, err := r.Track()
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(root, "a"), "after")
	if err := r.Restore(id); err != nil {
		t.Fatal(err)
	}
	if got := string(readFile(t, filepath.Join(root, "a"))); got != "before" {
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
	if why := missing(nameMonitor, "git"); (why == "") != has {
		t.Errorf("git has a monitor: %v, but: %q", has, why)
	}
	if why := missing(nameSpec, "git"); why != "" {
		t.Error(why)
	}
}
