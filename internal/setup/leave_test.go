package setup

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/known"
)

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestProjectStays: a project that holds nothing but settings of cairn is still there after they are removed.
func TestProjectStays(t *testing.T) {
	t.Parallel()
	for _, a := range agents() {
		p, _ := places(t)
		p.Project = filepath.Join(t.TempDir(), "project")
		if err := os.Mkdir(p.Project, 0o700); err != nil {
			t.Fatal(err)
		}
		opt := Options{Places: p, Program: program}
		apply(t, a.Name, opt)
		opt.Remove = true
		apply(t, a.Name, opt)
		if !isDir(p.Project) {
			t.Errorf("%s: the project is gone", a.Name)
		}
		if left := below(t, p.Project, ""); len(left) > 0 {
			t.Errorf("%s: left %q", a.Name, left)
		}
	}
}

// TestSymlinksOfDotfiles: a directory that is a symlink, as programs for dotfiles make it, stays, and setup works again.
// A symlink to a file of cairn's own goes with the file.
func TestSymlinksOfDotfiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need a privilege on Windows")
	}
	p, home := places(t)
	dotfiles, dir := filepath.Join(home, "dotfiles"), filepath.Join(home, "pi", "extensions")
	for _, d := range []string{dotfiles, filepath.Dir(dir)} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(dotfiles, dir); err != nil {
		t.Fatal(err)
	}
	set, unset := Options{Places: p, Program: program}, Options{Places: p, Program: program, Remove: true}
	for range 2 {
		apply(t, known.Pi, set)
		apply(t, known.Pi, unset)
		if !isDir(dir) {
			t.Fatal("the symlink leads nowhere")
		}
	}

	apply(t, known.Pi, set)
	file, moved := filepath.Join(dir, "cairn.ts"), filepath.Join(home, "cairn.ts")
	if err := os.Rename(file, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(moved, file); err != nil {
		t.Fatal(err)
	}
	apply(t, known.Pi, unset)
	if isThere(file) || isThere(moved) {
		t.Error("something is left")
	}
	apply(t, known.Pi, set)
}
