package snapshot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/snapshot"
)

// env is a git work tree under snapshot, as upstream's tests set it up: a.txt and
// b.txt committed.
type env struct {
	*testing.T
	dir    string
	cfg    snapshot.Config
	oracle *gittest.Oracle
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{T: t, dir: t.TempDir(), oracle: gittest.NewOracle(t)}
	e.dir, _ = filepath.EvalSymlinks(e.dir)
	e.oracle.Init(e.dir)
	e.write("a.txt", "A content\n")
	e.write("b.txt", "B content\n")
	e.oracle.Commit(e.dir, "init")
	e.cfg = snapshot.Config{Enabled: true, WorkDir: e.dir, DataDir: t.TempDir()}
	return e
}

func (e *env) abs(rel string) string { return e.dir + "/" + rel }

func (e *env) write(rel, content string) {
	e.Helper()
	path := filepath.Join(e.dir, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		e.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		e.Fatal(err)
	}
}

func (e *env) remove(rel string) {
	e.Helper()
	if err := os.RemoveAll(e.abs(rel)); err != nil {
		e.Fatal(err)
	}
}

func (e *env) track() string {
	e.Helper()
	hash, err := snapshot.Track(e.cfg)
	if err != nil || len(hash) != 40 {
		e.Fatalf("track: %q, %v", hash, err)
	}
	return hash
}

func (e *env) patch(hash string) snapshot.Patch {
	e.Helper()
	p, err := snapshot.GetPatch(e.cfg, hash)
	if err != nil {
		e.Fatal(err)
	}
	return p
}

// files is the patch as paths below the directory.
func (e *env) files(hash string) []string {
	e.Helper()
	var out []string
	for _, f := range e.patch(hash).Files {
		rel, ok := strings.CutPrefix(f, e.dir+"/")
		if !ok {
			e.Errorf("%q is not an absolute path below %q", f, e.dir)
		}
		out = append(out, rel)
	}
	return out
}

func (e *env) wantFiles(hash string, want ...string) {
	e.Helper()
	if got := e.files(hash); !slices.Equal(got, want) {
		e.Errorf("patch lists %q, want %q", got, want)
	}
}

func (e *env) revert(patches ...snapshot.Patch) {
	e.Helper()
	if err := snapshot.Revert(e.cfg, patches); err != nil {
		e.Fatal(err)
	}
}

func (e *env) restore(hash string) {
	e.Helper()
	if err := snapshot.Restore(e.cfg, hash); err != nil {
		e.Fatal(err)
	}
}

func (e *env) diffFull(from, to string) map[string]snapshot.FileDiff {
	e.Helper()
	list, err := snapshot.DiffFull(e.cfg, from, to)
	if err != nil {
		e.Fatal(err)
	}
	out := make(map[string]snapshot.FileDiff)
	for _, d := range list {
		out[d.File] = d
	}
	return out
}

func (e *env) want(rel, content string) {
	e.Helper()
	data, err := os.ReadFile(e.abs(rel))
	if err != nil || string(data) != content {
		e.Errorf("%s holds %q (%v), want %q", rel, data, err, content)
	}
}

func (e *env) wantAbsent(rels ...string) {
	e.Helper()
	for _, rel := range rels {
		if _, err := os.Lstat(e.abs(rel)); err == nil {
			e.Errorf("%s is still there", rel)
		}
	}
}

// conformance holds one test for every test of upstream's suite, under its name.
var conformance = map[string]func(*env){
	"tracks deleted files correctly": func(e *env) {
		before := e.track()
		e.remove("a.txt")
		e.wantFiles(before, "a.txt")
	},
	"revert should remove new files": func(e *env) {
		before := e.track()
		e.write("new.txt", "NEW")
		e.revert(e.patch(before))
		e.wantAbsent("new.txt")
	},
	"revert in subdirectory": func(e *env) {
		before := e.track()
		e.write("sub/file.txt", "SUB")
		e.revert(e.patch(before))
		e.wantAbsent("sub/file.txt", "sub")
	},
	"multiple file operations": func(e *env) {
		before := e.track()
		e.remove("a.txt")
		e.write("c.txt", "C")
		e.write("dir/d.txt", "D")
		e.write("b.txt", "MODIFIED")
		e.revert(e.patch(before))
		e.want("a.txt", "A content\n")
		e.want("b.txt", "B content\n")
		e.wantAbsent("c.txt", "dir/d.txt")
	},
	"empty directory handling": func(e *env) {
		before := e.track()
		os.Mkdir(e.abs("empty"), 0o755)
		e.wantFiles(before)
	},
	"binary file handling": func(e *env) {
		before := e.track()
		e.write("image.png", "\x89PNG\x00\x01")
		e.wantFiles(before, "image.png")
		e.revert(e.patch(before))
		e.wantAbsent("image.png")
	},
	"symlink handling": func(e *env) {
		before := e.track()
		os.Symlink("a.txt", e.abs("link.txt"))
		e.wantFiles(before, "link.txt")
		e.revert(e.patch(before))
		e.wantAbsent("link.txt")
		e.want("a.txt", "A content\n")
	},
	"file under size limit handling": func(e *env) {
		before := e.track()
		e.write("large.txt", strings.Repeat("x", 1<<20))
		e.wantFiles(before, "large.txt")
		e.revert(e.patch(before))
		e.wantAbsent("large.txt")
	},
	"large added files are skipped": func(e *env) {
		e.cfg.MaxFileSize = 2 << 20
		before := e.track()
		e.write("huge.txt", strings.Repeat("x", 2<<20+1))
		e.wantFiles(before)
		if after := e.track(); after != before {
			e.Error("the large file is in the tree")
		}
	},
	"nested directory revert": func(e *env) {
		before := e.track()
		e.write("level1/level2/level3/deep.txt", "DEEP")
		e.revert(e.patch(before))
		e.wantAbsent("level1")
	},
	"special characters in filenames": func(e *env) {
		before := e.track()
		names := []string{"file with spaces.txt", "file-with-dashes.txt", "file_with_underscores.txt"}
		for _, n := range names {
			e.write(n, n)
		}
		e.wantFiles(before, names...)
	},
	"revert with empty patches": func(e *env) {
		e.track()
		e.revert()
		e.revert(snapshot.Patch{Hash: "dummy"})
		e.want("a.txt", "A content\n")
	},
	"patch with invalid hash": func(e *env) {
		e.track()
		e.write("test.txt", "TEST")
		p := e.patch("invalid-hash-12345")
		if p.Hash != "invalid-hash-12345" || p.Files == nil || len(p.Files) != 0 {
			e.Errorf("%+v", p)
		}
		if p := e.patch(strings.Repeat("0", 40)); len(p.Files) != 0 {
			e.Errorf("%+v", p)
		}
	},
	"revert non-existent file": func(e *env) {
		before := e.track()
		e.revert(snapshot.Patch{Hash: before, Files: []string{e.abs("nonexistent.txt")}})
	},
	"unicode filenames": func(e *env) {
		before := e.track()
		names := []string{"café.txt", "文件.txt", "файл.txt", "🚀rocket.txt"}
		for _, n := range names {
			e.write(n, n)
		}
		e.wantFiles(before, sorted(names)...)
		e.revert(e.patch(before))
		e.wantAbsent(names...)
	},
	"unicode filenames modification and restore": func(e *env) { // skipped upstream
		e.write("文件.txt", "original chinese")
		e.write("файл.txt", "original cyrillic")
		before := e.track()
		e.write("文件.txt", "modified chinese")
		e.write("файл.txt", "modified cyrillic")
		e.wantFiles(before, sorted([]string{"文件.txt", "файл.txt"})...)
		e.revert(e.patch(before))
		e.want("文件.txt", "original chinese")
		e.want("файл.txt", "original cyrillic")
	},
	"unicode filenames in subdirectories": func(e *env) {
		before := e.track()
		e.write("目录/подкаталог/文件.txt", "deep")
		e.wantFiles(before, "目录/подкаталог/文件.txt")
		e.revert(e.patch(before))
		e.wantAbsent("目录")
	},
	"very long filenames": func(e *env) {
		before := e.track()
		name := strings.Repeat("a", 200) + ".txt"
		e.write(name, "long")
		e.wantFiles(before, name)
		e.revert(e.patch(before))
		e.wantAbsent(name)
	},
	"hidden files": func(e *env) {
		before := e.track()
		e.write(".hidden", "h")
		e.write(".config", "c")
		e.wantFiles(before, ".config", ".hidden")
	},
	"nested symlinks": func(e *env) {
		before := e.track()
		e.write("sub/dir/target.txt", "T")
		os.Symlink("target.txt", e.abs("sub/dir/link.txt"))
		os.Symlink("sub", e.abs("sub-link"))
		e.wantFiles(before, "sub-link", "sub/dir/link.txt", "sub/dir/target.txt")
		e.revert(e.patch(before))
		e.wantAbsent("sub-link", "sub")
	},
	"file permissions and ownership changes": func(e *env) {
		before := e.track()
		os.Chmod(e.abs("a.txt"), 0o600)
		e.revert(e.patch(before))
		e.want("a.txt", "A content\n")
		if info, err := os.Stat(e.abs("a.txt")); err != nil || info.Mode().Perm() != 0o644 {
			e.Errorf("mode %v, %v", info.Mode(), err)
		}
	},
	"circular symlinks": func(e *env) {
		before := e.track()
		os.Symlink("circular", e.abs("circular"))
		e.wantFiles(before, "circular")
	},
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
	"concurrent file operations during patch": func(e *env) {
		before := e.track()
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range 50 {
				os.WriteFile(e.abs(fmt.Sprint("concurrent", i)), []byte("x"), 0o644)
			}
		})
		e.patch(before)
		wg.Wait()
		if got := e.files(before); len(got) != 50 {
			e.Errorf("%d files", len(got))
		}
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
	"revert only removes files in invoking worktree": func(e *env) {
		w := e.worktree()
		e.write("worktree.txt", "primary")
		e.track()
		before := w.track()
		w.write("worktree.txt", "secondary")
		w.revert(w.patch(before))
		w.wantAbsent("worktree.txt")
		e.want("worktree.txt", "primary")
	},
	"diff reports worktree-only/shared edits and ignores primary-only": func(e *env) {
		w := e.worktree()
		before := w.track()
		w.write("worktree-only.txt", "w\n")
		w.write("a.txt", "edited in the worktree\n")
		e.write("primary-only.txt", "p\n")
		text, err := snapshot.Diff(w.cfg, before)
		if err != nil || !strings.Contains(text, "worktree-only.txt") || !strings.Contains(text, "+edited in the worktree") || strings.Contains(text, "primary-only") {
			e.Errorf("%v\n%s", err, text)
		}
	},
	"track with no changes returns same hash": func(e *env) {
		if one, two, three := e.track(), e.track(), e.track(); one != two || two != three {
			e.Error(one, two, three)
		}
	},
	"diff function with various changes": func(e *env) {
		before := e.track()
		e.remove("a.txt")
		e.write("new.txt", "new\n")
		e.write("b.txt", "modified\n")
		text, err := snapshot.Diff(e.cfg, before)
		for _, want := range []string{"deleted file mode 100644", "-A content", "+new", "new file mode 100644", "-B content\n+modified"} {
			if err != nil || !strings.Contains(text, want) {
				e.Errorf("%q is missing (%v) in\n%s", want, err, text)
			}
		}
	},
	"restore function": func(e *env) {
		before := e.track()
		e.remove("a.txt")
		e.write("new.txt", "new")
		e.write("b.txt", "modified")
		e.restore(before)
		e.want("a.txt", "A content\n")
		e.want("b.txt", "B content\n")
		e.want("new.txt", "new")
	},
	"revert should not delete files that existed but were deleted in snapshot": func(e *env) {
		first := e.track()
		e.remove("a.txt")
		second := e.track()
		e.write("a.txt", "recreated")
		p := e.patch(second)
		e.revert(p) // a.txt is absent at second
		e.wantAbsent("a.txt")
		e.revert(snapshot.Patch{Hash: first, Files: []string{e.abs("a.txt")}})
		e.want("a.txt", "A content\n")
	},
	"revert preserves file that existed in snapshot when deleted then recreated": func(e *env) {
		e.write("existing.txt", "original")
		before := e.track()
		e.remove("existing.txt")
		e.write("existing.txt", "recreated")
		e.write("newfile.txt", "new")
		e.revert(e.patch(before))
		e.wantAbsent("newfile.txt")
		e.want("existing.txt", "original")
	},
	"diffFull sets status based on git change type": func(e *env) {
		e.write("grow.txt", "one\n")
		e.write("trim.txt", "line1\nline2\n")
		before := e.track()
		e.write("grow.txt", "one\ntwo\n")
		e.write("trim.txt", "line1\n")
		e.remove("a.txt")
		e.write("added.txt", "new\n")
		got := e.diffFull(before, e.track())
		for file, status := range map[string]string{"grow.txt": "modified", "trim.txt": "modified", "a.txt": "deleted", "added.txt": "added"} {
			if got[file].Status != status {
				e.Errorf("%s is %q, want %q", file, got[file].Status, status)
			}
		}
	},
	"diffFull with new file additions": func(e *env) {
		before := e.track()
		e.write("new.txt", "new content\n")
		e.wantDiff(before, "new.txt", "", "new content\n", 1, 0)
	},
	"diffFull with a large interleaved mixed diff": func(e *env) {
		for i := range 60 {
			e.write(fmt.Sprintf("mix/%03d-mod.txt", i), fmt.Sprint("before ", i, "\n"))
			e.write(fmt.Sprintf("mix/%03d-del.txt", i), fmt.Sprint("gone ", i, "\n"))
		}
		before := e.track()
		for i := range 60 {
			e.write(fmt.Sprintf("mix/%03d-mod.txt", i), fmt.Sprint("after ", i, "\n"))
			e.remove(fmt.Sprintf("mix/%03d-del.txt", i))
			e.write(fmt.Sprintf("mix/%03d-add.txt", i), fmt.Sprint("new ", i, "\n"))
			e.write(fmt.Sprintf("mix/%03d-bin", i), "\x00\x01")
		}
		got := e.diffFull(before, e.track())
		for i := range 60 {
			mod, del := got[fmt.Sprintf("mix/%03d-mod.txt", i)], got[fmt.Sprintf("mix/%03d-del.txt", i)]
			add, bin := got[fmt.Sprintf("mix/%03d-add.txt", i)], got[fmt.Sprintf("mix/%03d-bin", i)]
			if mod.Before != fmt.Sprint("before ", i, "\n") || mod.After != fmt.Sprint("after ", i, "\n") || del.Deletions != 1 || del.After != "" || add.Additions != 1 || bin.After != "" || bin.Additions != 0 {
				e.Fatal(i, mod, del, add, bin)
			}
		}
	},
	"diffFull preserves git diff order across batch boundaries": func(e *env) {
		for i := range 140 {
			e.write(fmt.Sprintf("order/%03d.txt", i), "x\n")
		}
		before := e.track()
		var want []string
		for i := range 140 {
			e.write(fmt.Sprintf("order/%03d.txt", i), "y\n")
			want = append(want, fmt.Sprintf("order/%03d.txt", i))
		}
		list, err := snapshot.DiffFull(e.cfg, before, e.track())
		var got []string
		for _, d := range list {
			got = append(got, d.File)
		}
		if err != nil || !slices.Equal(got, want) {
			e.Errorf("%v: %q", err, got)
		}
	},
	"diffFull with file modifications": func(e *env) {
		before := e.track()
		e.write("b.txt", "modified content\n")
		e.wantDiff(before, "b.txt", "B content\n", "modified content\n", 1, 1)
	},
	"diffFull with file deletions": func(e *env) {
		before := e.track()
		e.remove("a.txt")
		e.wantDiff(before, "a.txt", "A content\n", "", 0, 1)
	},
	"diffFull with multiple line additions": func(e *env) {
		before := e.track()
		e.write("multi.txt", "line1\nline2\nline3\n")
		e.wantDiff(before, "multi.txt", "", "line1\nline2\nline3\n", 3, 0)
	},
	"diffFull with addition and deletion": func(e *env) {
		before := e.track()
		e.write("added.txt", "added\n")
		e.remove("a.txt")
		after := e.track()
		if got := e.diffFull(before, after); len(got) != 2 || got["added.txt"].Additions != 1 || got["a.txt"].Deletions != 1 {
			e.Errorf("%v", got)
		}
	},
	"diffFull with multiple additions and deletions": func(e *env) {
		e.write("c.txt", "1\n2\n3\n4\n5\n")
		before := e.track()
		e.write("c.txt", "1\nX\n3\nY\nZ\n5\n6\n")
		e.wantDiff(before, "c.txt", "1\n2\n3\n4\n5\n", "1\nX\n3\nY\nZ\n5\n6\n", 4, 2)
	},
	"diffFull with no changes": func(e *env) {
		before := e.track()
		if list, err := snapshot.DiffFull(e.cfg, before, e.track()); err != nil || list == nil || len(list) != 0 {
			e.Errorf("%v, %v", list, err)
		}
	},
	"diffFull with binary file changes": func(e *env) {
		before := e.track()
		e.write("binary.bin", "\x00\x01\x02")
		e.wantDiff(before, "binary.bin", "", "", 0, 0)
	},
	"diffFull with whitespace changes": func(e *env) {
		e.write("w.txt", "line1\nline2\n")
		before := e.track()
		e.write("w.txt", "line1\n\nline2\n")
		e.wantDiff(before, "w.txt", "line1\nline2\n", "line1\n\nline2\n", 1, 0)
	},
	"revert with overlapping files across patches uses first patch hash": func(e *env) {
		e.write("shared.txt", "v1")
		first := e.track()
		e.write("shared.txt", "v2")
		one := e.patch(first)
		second := e.track()
		e.write("shared.txt", "v3")
		two := e.patch(second)
		e.revert(one, two)
		e.want("shared.txt", "v1")
	},
	"revert preserves patch order when the same hash appears again": func(e *env) {
		e.write("foo/bar", "v1")
		e.write("a.txt", "v1")
		first := e.track()
		e.remove("foo")
		e.write("foo", "now a file")
		e.write("a.txt", "v2")
		second := e.track()
		e.remove("foo")
		e.write("a.txt", "v3")
		e.revert(
			snapshot.Patch{Hash: first, Files: []string{e.abs("a.txt")}},
			snapshot.Patch{Hash: second, Files: []string{e.abs("foo")}},
			snapshot.Patch{Hash: first, Files: []string{e.abs("foo/bar")}},
		)
		e.want("a.txt", "v1")
	},
	"revert handles large mixed batches across chunk boundaries": func(e *env) {
		for i := range 130 {
			e.write(fmt.Sprintf("batch/%03d-mod.txt", i), "before")
			e.write(fmt.Sprintf("batch/%03d-del.txt", i), "gone")
		}
		before := e.track()
		for i := range 130 {
			e.write(fmt.Sprintf("batch/%03d-mod.txt", i), "after")
			e.remove(fmt.Sprintf("batch/%03d-del.txt", i))
			e.write(fmt.Sprintf("fresh/%03d-add.txt", i), "new")
		}
		e.revert(e.patch(before))
		for i := range 130 {
			e.want(fmt.Sprintf("batch/%03d-mod.txt", i), "before")
			e.want(fmt.Sprintf("batch/%03d-del.txt", i), "gone")
		}
		e.wantAbsent("fresh")
	},
}

func sorted(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return out
}

func (e *env) wantDiff(from, file, before, after string, additions, deletions int) {
	e.Helper()
	d := e.diffFull(from, e.track())[file]
	if d.Before != before || d.After != after || d.Additions != additions || d.Deletions != deletions {
		e.Errorf("%+v", d)
	}
}

// worktree adds a linked worktree of the repository, with the same data directory.
func (e *env) worktree() *env {
	e.Helper()
	dir := filepath.Join(e.TempDir(), "linked")
	e.oracle.In(e.dir, "worktree", "add", "-q", dir)
	dir, _ = filepath.EvalSymlinks(dir)
	w := *e
	w.dir, w.cfg.WorkDir = dir, dir
	return &w
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, test := range conformance {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newEnv(t))
		})
	}
}

func TestDisabled(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.Enabled = false
	if hash, err := snapshot.Track(e.cfg); hash != "" || err != nil {
		t.Errorf("track: %q, %v", hash, err)
	}
	if p, err := snapshot.GetPatch(e.cfg, "x"); err != nil || len(p.Files) != 0 {
		t.Errorf("patch: %v, %v", p, err)
	}
	for _, err := range []error{snapshot.Restore(e.cfg, "x"), snapshot.Revert(e.cfg, nil)} {
		if err != snapshot.ErrDisabled {
			t.Errorf("%v", err)
		}
	}
	if entries, err := os.ReadDir(e.cfg.DataDir); err != nil || len(entries) != 0 {
		t.Errorf("something was written: %v, %v", entries, err)
	}
}

func TestFailuresAreErrors(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.WorkDir = e.abs("none")
	if hash, err := snapshot.Track(e.cfg); hash != "" || err == nil {
		t.Errorf("track of nothing: %q, %v", hash, err)
	}
	e.cfg.WorkDir = e.dir
	if err := snapshot.Restore(e.cfg, strings.Repeat("0", 40)); err == nil {
		t.Error("restore of an unknown hash succeeded")
	}
	if err := snapshot.Revert(e.cfg, []snapshot.Patch{{Hash: strings.Repeat("0", 40), Files: []string{e.abs("a.txt")}}}); err == nil {
		t.Error("revert to an unknown hash succeeded")
	}
	e.want("a.txt", "A content\n")
}
