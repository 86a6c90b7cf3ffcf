package setup

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/known"
)

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
	if exists(file) || exists(moved) {
		t.Error("something is left")
	}
	apply(t, known.Pi, set)
}

// TestSymlinkToNowhere: the error names the symlink, and what it leads to.
func TestSymlinkToNowhere(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need a privilege on Windows")
	}
	p, home := places(t)
	link, missing := filepath.Join(home, "claude"), filepath.Join(home, "dotfiles", "claude")
	if err := os.Symlink(missing, link); err != nil {
		t.Fatal(err)
	}
	plan, err := New(known.Claude, Options{Places: p, Program: program})
	if err == nil {
		err = plan.Apply()
	}
	if err == nil || !strings.Contains(err.Error(), link+" is a symbolic link to "+missing+", which is not there") {
		t.Error(err)
	}
}

// TestBackupOfEachFirstEdit: after cairn was removed from an edited file, the copy that the next setup leaves is of that
// file and not of an earlier one. A copy that a kill cut short is replaced, and what else a kill left behind is removed.
func TestBackupOfEachFirstEdit(t *testing.T) {
	t.Parallel()
	p, home := places(t)
	path := filepath.Join(home, "codex", "hooks.json")
	set, unset := Options{Places: p, Program: program}, Options{Places: p, Program: program, Remove: true}
	write(t, path, `{"a":1}`)
	write(t, path+backupSuffix, `{"a`)
	dead := filepath.Join(filepath.Dir(path), atomicfile.Prefix+"0123456789abcdef")
	write(t, dead, "half")
	apply(t, known.Codex, set)
	if got := contents(t, path+backupSuffix); got != `{"a":1}` {
		t.Errorf("beside half a copy: %q", got)
	}
	if exists(dead) {
		t.Error("a temporary file is left")
	}
	write(t, path, strings.Replace(contents(t, path), `"a":1`, `"a":2`, 1))
	apply(t, known.Codex, unset)
	if got := contents(t, path); got != `{"a":2}` {
		t.Errorf("%q", got)
	}
	apply(t, known.Codex, set)
	if got := contents(t, path+backupSuffix); got != `{"a":2}` {
		t.Errorf("the copy is %q", got)
	}
	apply(t, known.Codex, unset)
	if left := below(t, filepath.Dir(path), ""); !slices.Equal(left, []string{"hooks.json"}) {
		t.Errorf("left %q", left)
	}
}

// TestVariablesOfTheUser: variables that the user has put before the program stay when cairn moves, and go with the entry.
func TestVariablesOfTheUser(t *testing.T) {
	t.Parallel()
	p, home := places(t)
	path := filepath.Join(home, "codex", "hooks.json")
	apply(t, known.Codex, Options{Places: p, Program: program})
	old := commandLine(program, known.Codex)
	const mine = "CAIRN_NO_SERVER=1 MINE='a cairn' "
	write(t, path, strings.ReplaceAll(contents(t, path), old, mine+old))
	if plan := apply(t, known.Codex, Options{Places: p, Program: program}); len(plan.Changes) > 0 {
		t.Errorf("%+v", plan.Changes)
	}
	if s := statusOf(t, p, known.Codex); !slices.Equal(s.Program, program) {
		t.Errorf("the program is %q", s.Program)
	}
	moved := Options{Places: p, Program: []string{"/usr/bin/cairn"}}
	apply(t, known.Codex, moved)
	if got := contents(t, path); strings.Contains(got, old) || strings.Count(got, mine+"/usr/bin/cairn hook codex") != strings.Count(got, "hook codex") {
		t.Errorf("%s", got)
	}
	moved.Remove = true
	apply(t, known.Codex, moved)
	if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), "cairn") {
		t.Errorf("left %s", data)
	}
	for line, want := range map[string]string{
		"A=1 cairn hook codex": "A=1 ", "A= B=\"x y\"  cairn hook codex": "A= B=\"x y\"  ", "A=$(x) cairn hook codex": "", "/a=b/cairn hook codex": "", "A=1": "",
	} {
		if got := variables(line); got != want {
			t.Errorf("%s sets %q", line, got)
		}
	}
}

// TestRemoveAfterAMove: the entries go although a setup in between has brought their path up to date. A copy of the file
// from before that has entries of cairn, too.
func TestRemoveAfterAMove(t *testing.T) {
	t.Parallel()
	moved := []string{"/usr/bin/cairn"}
	for _, a := range agents() {
		for _, before := range []string{"", "{\n  \"a\": 1\n}\n"} {
			p, home := places(t)
			path := a.settingsPath(p)
			if path == "" {
				continue
			}
			if before != "" {
				write(t, path, before)
			}
			apply(t, a.Name, Options{Places: p, Program: program})
			os.Remove(path + backupSuffix)
			apply(t, a.Name, Options{Places: p, Program: moved})
			if has := exists(path + backupSuffix); has != (before != "") {
				t.Errorf("%s: a copy of %q is %t", a.Name, before, has)
			}
			if before == "" { // as earlier releases left it
				write(t, path+backupSuffix, strings.ReplaceAll(contents(t, path), moved[0], "/opt/cairn"))
			}
			apply(t, a.Name, Options{Places: p, Program: moved, Remove: true})
			switch left := below(t, home, ""); {
			case before == "" && len(left) > 0:
				t.Errorf("%s: left %q", a.Name, left)
			case before != "" && a.connected([]byte(contents(t, path))):
				t.Errorf("%s: left %s", a.Name, contents(t, path))
			}
		}
	}
}

// TestRemoveBesideAnOldCopy: a file that holds nothing but cairn's entries goes, whatever copy an earlier setup has left.
func TestRemoveBesideAnOldCopy(t *testing.T) {
	t.Parallel()
	p, home := places(t)
	path := filepath.Join(home, "codex", "hooks.json")
	write(t, path+backupSuffix, `{"a":1}`)
	apply(t, known.Codex, Options{Places: p, Program: program})
	apply(t, known.Codex, Options{Places: p, Program: program, Remove: true})
	if left := below(t, filepath.Dir(path), ""); !slices.Equal(left, []string{"hooks.json" + backupSuffix}) {
		t.Errorf("left %q", left)
	}
}

// TestEveryEditOfAFileIsKept: a second edit of a file of cairn's own does not take the place of the first.
func TestEveryEditOfAFileIsKept(t *testing.T) {
	t.Parallel()
	p, home := places(t)
	path := filepath.Join(home, "pi", "extensions", "cairn.ts")
	opt := Options{Places: p, Program: program}
	apply(t, known.Pi, opt)
	made := contents(t, path)
	for _, mine := range []string{"// one\n", "// two\n", "// one\n"} {
		write(t, path, made+mine)
		apply(t, known.Pi, opt)
	}
	if got := contents(t, path+backupSuffix); got != made+"// one\n" {
		t.Errorf("first: %q", got)
	}
	if got := contents(t, path+backupSuffix+"-2"); got != made+"// two\n" {
		t.Errorf("second: %q", got)
	}
	if left := below(t, filepath.Dir(path), "cairn.ts"); len(left) != 2 {
		t.Errorf("%q", left)
	}
}

// TestPermissionToRun: a script that has lost its permission to run is not complete, and setup gives it back.
func TestPermissionToRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permission")
	}
	p, home := places(t)
	opt := Options{Places: p, Program: program}
	apply(t, known.Cline, opt)
	for _, event := range clineEvents[:2] {
		path := filepath.Join(home, "cline", "hooks", event)
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if s := statusOf(t, p, known.Cline); s.Complete {
			t.Errorf("%s cannot run: %+v", event, s)
		}
		if plan := apply(t, known.Cline, opt); len(plan.Changes) != 1 {
			t.Errorf("%s: %+v", event, plan.Changes)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o700 {
			t.Errorf("%s: %v, %v", event, info.Mode(), err)
		}
		if s := statusOf(t, p, known.Cline); !s.Complete {
			t.Errorf("%+v", s)
		}
	}
}

// TestProgramOfAnotherName: setup would not know the entries of such a program again, and add them each time.
func TestProgramOfAnotherName(t *testing.T) {
	t.Parallel()
	for _, a := range agents() {
		p, home := places(t)
		_, err := New(a.Name, Options{Places: p, Program: []string{"/opt/cairn/bin/ckpt"}})
		if err == nil || !strings.Contains(err.Error(), "/opt/cairn/bin/ckpt has no cairn in its name") {
			t.Errorf("%s: %v", a.Name, err)
		}
		if left := below(t, home, ""); len(left) > 0 {
			t.Errorf("%s: %q", a.Name, left)
		}
	}
}
