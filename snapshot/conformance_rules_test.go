package snapshot_test

import "github.com/seed-fb9cbc17/cairn/internal/gittest"

// ofRules are the tests of ignore rules, of directories below the root and of linked work trees.
var ofRules = map[string]func(*env){
	"source project gitignore is respected": func(e *env) {
		e.write(".gitignore", "*.ignored\nbuild/\n")
		before := e.track()
		e.write("tracked.txt", "t")
		e.write("x.ignored", "i")
		e.write("build/out", "o")
		e.wantFiles(before, "tracked.txt")
	},
	"subdirectory snapshots include scoped changes only": func(e *env) {
		e.write("sub/in.txt", "in")
		e.cfg.WorkDir = e.abs("sub")
		before := e.track()
		e.write("sub/in.txt", "changed")
		e.write("a.txt", "outside the scope")
		e.wantFiles(before, "sub/in.txt")
		e.revert(e.patch(before))
		e.want("sub/in.txt", "in")
		e.want("a.txt", "outside the scope")
	},
	"subdirectory treat wildcard characters literally": func(e *env) {
		e.write("sub[1]/in.txt", "in")
		e.write("sub1/in.txt", "other")
		e.cfg.WorkDir = e.abs("sub[1]")
		before := e.track()
		e.write("sub[1]/in.txt", "changed")
		e.write("sub1/in.txt", "changed")
		e.wantFiles(before, "sub[1]/in.txt")
	},
	"subdirectory treat leading colons literally": func(e *env) {
		e.write(":sub/in.txt", "in")
		e.cfg.WorkDir = e.abs(":sub")
		before := e.track()
		e.write(":sub/in.txt", "changed")
		e.wantFiles(before, ":sub/in.txt")
	},
	"gitignore changes": func(e *env) {
		e.write(".gitignore", "*.ignored\n")
		before := e.track()
		e.write(".gitignore", "*.ignored\n*.log\n")
		e.write("new.log", "l")
		e.write("normal.txt", "n")
		e.wantFiles(before, ".gitignore", "normal.txt")
	},
	"files tracked in snapshot but now gitignored are not lost": func(e *env) { // upstream filters them out, and with them the edit
		e.write("data.log", "one")
		before := e.track()
		e.write(".gitignore", "*.log\n")
		e.write("data.log", "two")
		e.wantFiles(before, ".gitignore", "data.log")
		e.revert(e.patch(before))
		e.want("data.log", "one")
	},
	"gitignore updated between track calls filters from diff": func(e *env) {
		before := e.track()
		e.write(".gitignore", "out/\n")
		e.write("out/a", "a")
		after := e.track()
		if diffs := e.diffFull(before, after); len(diffs) != 1 {
			e.Errorf("%v", diffs)
		}
	},
	"git info exclude changes": func(e *env) {
		before := e.track()
		e.write(".git/info/exclude", "ignored.txt\n")
		e.write("ignored.txt", "i")
		e.write("normal.txt", "n")
		e.wantFiles(before, "normal.txt")
	},
	"git info exclude keeps global excludes": func(e *env) {
		home := e.TempDir()
		gittest.Create(e, home, gittest.Tree{
			".gitconfig": gittest.File("[core]\n\texcludesfile = ~/global.ignore\n"), "global.ignore": gittest.File("global.tmp\n"),
		})
		e.cfg.Home = home
		e.write(".git/info/exclude", "info.tmp\n")
		before := e.track()
		e.write("global.tmp", "g")
		e.write("info.tmp", "i")
		e.write("normal.txt", "n")
		e.wantFiles(before, "normal.txt")
	},
	"snapshot state isolation between projects": func(e *env) {
		other := newEnv(e.T)
		other.cfg.DataDir = e.cfg.DataDir
		one, two := e.track(), other.track()
		e.write("only-here.txt", "1")
		e.wantFiles(one, "only-here.txt")
		other.wantFiles(two)
	},
	"patch detects changes in secondary worktree": func(e *env) {
		w := e.worktree()
		before := w.track()
		w.write("worktree-file.txt", "w")
		w.wantFiles(before, "worktree-file.txt")
	},
}
