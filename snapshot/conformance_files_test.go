package snapshot_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
)

// ofNames are the tests of kinds of paths and of their names.
var ofNames = map[string]func(*env){
	"tracks deleted files correctly": func(e *env) {
		before := e.track()
		e.remove("a.txt")
		e.wantFiles(before, "a.txt")
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
	"special characters in filenames": func(e *env) {
		before := e.track()
		names := []string{"file with spaces.txt", "file-with-dashes.txt", "file_with_underscores.txt"}
		for _, n := range names {
			e.write(n, n)
		}
		e.wantFiles(before, names...)
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
	"track with no changes returns same hash": func(e *env) {
		if one, two, three := e.track(), e.track(), e.track(); one != two || two != three {
			e.Error(one, two, three)
		}
	},
}
