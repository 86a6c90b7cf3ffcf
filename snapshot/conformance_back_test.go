package snapshot_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/snapshot"
)

// ofReverts are the tests of what a way back changes.
var ofReverts = map[string]func(*env){
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
	"nested directory revert": func(e *env) {
		before := e.track()
		e.write("level1/level2/level3/deep.txt", "DEEP")
		e.revert(e.patch(before))
		e.wantAbsent("level1")
	},
	"revert with empty patches": func(e *env) {
		e.track()
		e.revert()
		e.revert(snapshot.Patch{Hash: "dummy"})
		e.want("a.txt", "A content\n")
	},
	"revert non-existent file": func(e *env) {
		before := e.track()
		e.revert(snapshot.Patch{Hash: before, Files: []string{e.abs("nonexistent.txt")}})
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
		err := snapshot.Revert(e.cfg, []snapshot.Patch{
			{Hash: first, Files: []string{e.abs("a.txt")}},
			{Hash: second, Files: []string{e.abs("foo")}},
			{Hash: first, Files: []string{e.abs("foo/bar")}},
		})
		if !errors.Is(err, cairn.ErrConflict) || !strings.Contains(err.Error(), "foo: ") {
			e.Errorf("both foo and foo/bar are wanted: %v", err)
		}
		e.want("a.txt", "v1")
		e.want("foo/bar", "v1")
	},
	"revert brings a file back where a later patch made a directory": func(e *env) {
		e.write("lib", "a file\n")
		first := e.track()
		e.remove("lib")
		second := e.track()
		e.write("lib/new.txt", "new")
		one := snapshot.Patch{Hash: first, Files: []string{e.abs("lib")}}
		two := snapshot.Patch{Hash: second, Files: []string{e.abs("lib/new.txt")}}
		e.revert(two, one)
		e.want("lib", "a file\n")
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
