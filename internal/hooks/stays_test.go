package hooks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// outside is a directory beside the project by the name that it has on disk.
func (w *world) outside() string {
	w.Helper()
	dir, err := filepath.EvalSymlinks(w.TempDir())
	if err != nil {
		w.Fatal(err)
	}
	return dir
}

func (w *world) writeAt(path, content string) {
	w.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		w.Fatal(err)
	}
}

// TestV46_OutsideIsListedAtUndo: files that an edit tool wrote outside the root stay, and
// undo lists them, however the tool names them. A file that was named and not written is
// not listed, nor a file that is gone again.
func TestV46_OutsideIsListedAtUndo(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{Claude, Codex, Qwen} {
		w := newWorld(t, agent, aTree())
		dir := w.outside()
		before := w.manifest()
		path := func(name string) string { return filepath.Join(dir, name) }
		relative, err := filepath.Rel(w.root, path("relative"))
		if err != nil {
			t.Fatal(err)
		}
		w.writeAt(path("changed"), "old\n")
		w.writeAt(path("same"), "old\n")
		w.prompt("s", "1", "go")
		for i, name := range []string{path("changed"), path("same"), path("temporary"), path("new"), relative} {
			w.use("PreToolUse", "s", "Write", string(rune('a'+i)), map[string]string{"file_path": name})
		}
		w.use("PreToolUse", "s", "apply_patch", "p", map[string]string{"command": "*** Begin Patch\n*** Add File: " + path("patched") + "\n+x\n*** End Patch"})
		for _, name := range []string{"changed", "temporary", "new", "relative", "patched"} {
			w.writeAt(path(name), "longer than before\n")
		}
		w.write("a", "x\n")
		w.tell("Stop", "s", nil)
		if err := os.Remove(path("temporary")); err != nil {
			t.Fatal(err)
		}
		preview := w.prompted("s", "cairn undo --dry-run")
		said := w.prompted("s", "cairn undo")
		want := "not taken back, outside this directory: " + strings.Join([]string{path("changed"), path("new"), path("patched"), path("relative")}, ", ")
		if !strings.Contains(said, want) || !strings.Contains(preview, want) || strings.Contains(said, "same") || strings.Contains(said, "temporary") {
			t.Errorf("%s:\nundo said %q\npreview   %q\nwant      %q", agent, said, preview, want)
		}
		w.isAs(before, "after undo")
		if said := w.prompted("s", "cairn redo"); strings.Contains(said, "outside this directory") {
			t.Errorf("%s: redo said %q", agent, said)
		}
		w.noFailures()
	}
}

// TestV46_ATurnThatWroteOutsideOnly is a turn that undo does not pass over: it says that
// nothing was taken back, and the turn before stays.
func TestV46_ATurnThatWroteOutsideOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	file := filepath.Join(w.outside(), "x")
	before := w.manifest()
	turn := func(id, path string, write func()) {
		w.prompt("s", id, "go")
		w.use("PreToolUse", "s", "Write", id, map[string]string{"file_path": path})
		write()
		w.use("PostToolUse", "s", "Write", id, map[string]string{"file_path": path})
		w.tell("Stop", "s", nil)
	}
	turn("1", w.path("a"), func() { w.write("a", "theirs\n") })
	turn("2", file, func() { w.writeAt(file, "theirs\n") })
	after := w.manifest()
	for _, text := range []string{"cairn diff", "cairn status", "cairn log"} {
		if said := w.prompted("s", text); !strings.Contains(said, "1 file") {
			t.Errorf("%s: %q", text, said)
		}
	}
	if said := w.prompted("s", "cairn undo"); !strings.HasPrefix(said, "cairn: nothing was changed\nnot taken back, outside this directory: "+file+"\n") || !strings.Contains(said, "redo, then undo with --outside") {
		t.Errorf("undo said %q", said)
	}
	w.isAs(after, "after the undo of a turn outside")
	if said := w.prompted("s", "cairn undo"); !strings.Contains(said, "restored a") || strings.Contains(said, "not taken back") {
		t.Errorf("the second undo said %q", said)
	}
	w.isAs(before, "after two undos")
	w.noFailures()
}

// TestV46_ShellCommands: words of a command that name a path outside the root, or an
// ignored one, are looked at before and after it.
func TestV46_ShellCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, gittest.Tree{
		".gitignore": gittest.File("*.log\nbuild/\n.env\n"), "a": gittest.File("a\n"), ".env": gittest.File("KEY\n"), "one.log": gittest.File("1\n"),
		"two.log": gittest.File("2\n"), "build/out/x": gittest.File("x\n"), "build/y": gittest.File("y\n"), "src/main": gittest.File("m\n"), "src/deep/my.log": gittest.File("l\n"),
		"stays.log": gittest.File("s\n"), "sub/c": gittest.File("c\n"), "sub/it.log": gittest.File("i\n"),
	})
	file := filepath.Join(w.outside(), "out side")
	w.prompt("s", "1", "go")
	line := "cat stays.log a && rm -rf build src one*.log; rm .env; cd sub && rm it.log c; cd ..; echo changed >a; echo x > '" + file + "' 2>/dev/null"
	w.use("PreToolUse", "s", "Bash", "c1", map[string]string{"command": line})
	for _, path := range []string{"build", "src", "one.log", ".env", "sub/it.log", "sub/c"} {
		if err := os.RemoveAll(w.path(path)); err != nil {
			t.Fatal(err)
		}
	}
	w.write("a", "changed\n")
	w.writeAt(file, "x\n")
	w.use("PostToolUse", "s", "Bash", "c1", map[string]string{"command": line})
	w.tell("Stop", "s", nil)
	said := w.prompted("s", "cairn undo")
	for _, want := range []string{
		"not taken back, ignored by rules: .env, build, one.log, src/deep/my.log, sub/it.log",
		"not taken back, outside this directory: " + file,
	} {
		if !slices.Contains(strings.Split(said, "\n"), want) {
			t.Errorf("no line %q in\n%s", want, said)
		}
	}
	if strings.Contains(said, "stays.log") || strings.Contains(said, "/dev/null") {
		t.Errorf("undo said %q", said)
	}
	w.noFailures()
}

// TestV46_WhatCameBackIsNotListed: a file that a tool names is captured although it is
// ignored, and one that a command writes again as it was is not changed.
func TestV46_WhatCameBackIsNotListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, gittest.Tree{".gitignore": gittest.File("*.log\n"), "x.log": gittest.File("1\n"), "a": gittest.File("a\n")})
	w.prompt("s", "1", "go")
	w.use("PreToolUse", "s", "Edit", "c1", map[string]string{"file_path": w.path("x.log")})
	w.write("x.log", "changed\n")
	w.use("PostToolUse", "s", "Edit", "c1", map[string]string{"file_path": w.path("x.log")})
	w.use("PreToolUse", "s", "Bash", "c2", map[string]string{"command": "cp a b && mkdir -p d/e && mv b a && rm x.log"})
	w.write("a", "a\n")
	if err := os.MkdirAll(w.path("d/e"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.path("x.log")); err != nil {
		t.Fatal(err)
	}
	w.use("PostToolUse", "s", "Bash", "c2", map[string]string{"command": "cp a b && mv b a"})
	w.tell("Stop", "s", nil)
	if said := w.prompted("s", "cairn undo"); strings.Contains(said, "not taken back") || !strings.Contains(said, "restored x.log") {
		t.Errorf("undo said %q", said)
	}
	w.noFailures()
}

// TestV46_OtherDoors: what hooks have recorded is listed by every way back of the session.
func TestV46_OtherDoors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	file := filepath.Join(w.outside(), "x")
	w.prompt("s", "1", "go")
	w.use("PreToolUse", "s", "Write", "c1", map[string]string{"file_path": file})
	w.writeAt(file, "theirs\n")
	w.write("a", "theirs\n")
	w.use("PostToolUse", "s", "Write", "c1", map[string]string{"file_path": file})
	w.sessions(func(s *session.Sessions) {
		_, res, err := s.UndoTurn(t.Context(), "s", session.MoveOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.NotTakenBack) != 1 || string(res.NotTakenBack[0].Path) != file || res.NotTakenBack[0].Reason != session.ReasonOutside || !res.Complete() {
			t.Errorf("%+v", res)
		}
	})
}

// TestV46_Mentions: which paths the words of a command name.
func TestV46_Mentions(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"rm -rf 'a b' \"c d\" e\\ f":                   "/r/a b! /r/c d! /r/e f!",
		"cd /x/y && rm z; cat ../w":                    "/x/y/z! /x/w",
		"FOO=1 sudo rm x | tee out >>/var/log 2>&1":    "/r/x! /r/out /var/log /r/2 /r/1",
		"echo $HOME/x `pwd`/y ~/z \"$A\"/q # rm w":     "/home/z",
		"git clean -fdx":                               "/r/clean",
		"npm test &> /t/log\nmv a b":                   "/r/test /t/log /r/a! /r/b!",
		"if true; then rm a; fi":                       "/r/true /r/a!",
		"rm \"it's $x\" 'no $x' \"quoted \\\" quote\"": "/r/no $x! /r/quoted \" quote!",
		"": "", "''": "", "rm": "", "'unclosed": "",
	} {
		var got []string
		for _, m := range mentions("/r", "/home", line) {
			text := m.path
			if m.remove {
				text += "!"
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q names %q, want %q", line, got, want)
		}
	}
}

// TestDrivePath: on Windows, agents give commands to Git Bash, where a drive is a directory of the root.
func TestDrivePath(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"/c/Users/me/a b": "c:/Users/me/a b", "/D/x": "D:/x", "/c/": "c:/", "/c": "c:/", "/z/..": "z:/..",
		"": "", "/": "/", "//c/x": "//c/x", "/tmp/x": "/tmp/x", "/cc/x": "/cc/x", "/1/x": "/1/x", "c/x": "c/x", "a": "a", `C:\x`: `C:\x`, "/é/x": "/é/x",
	} {
		if got := drivePath(word); got != want {
			t.Errorf("%q is %q, want %q", word, got, want)
		}
	}
}
