package snapshot_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/snapshot"
)

// ofDiffs are the tests of diffs.
var ofDiffs = map[string]func(*env){
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
}
