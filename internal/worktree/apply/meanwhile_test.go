package apply

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// replaceBy writes a file as editors do: beside its name, and renamed.
func replaceBy(t *testing.T, at, text string) {
	must(t, os.WriteFile(at+"~", []byte(text), 0o644))
	must(t, os.Rename(at+"~", at))
}

// TestWrittenBetweenLookAndRename: another program changes a path after the last look at it. What it wrote stays.
func TestWrittenBetweenLookAndRename(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("this system has no call that exchanges two names")
	}
	replaced := func(t *testing.T, at string) { replaceBy(t, at, "theirs") }
	inPlace := func(t *testing.T, at string) { must(t, os.WriteFile(at, []byte("in place"), 0o644)) }
	sameSize := func(t *testing.T, at string) { must(t, os.WriteFile(at, []byte("OLD"), 0o644)) }
	chmodded := func(t *testing.T, at string) { must(t, os.Chmod(at, 0o600)) }
	linked := func(t *testing.T, at string) { must(t, errors.Join(os.Remove(at), os.Symlink("elsewhere", at))) }
	folder := func(t *testing.T, at string) {
		must(t, errors.Join(os.Remove(at), os.Mkdir(at, 0o755), os.WriteFile(filepath.Join(at, "x"), []byte("theirs"), 0o644)))
	}
	made := func(t *testing.T, at string) { must(t, os.WriteFile(at, []byte("theirs"), 0o644)) }
	old, none := testTree{"d/p": aFile("old")}, testTree{"d": aFolder()}
	for name, c := range map[string]struct {
		before, after testTree
		write         func(t *testing.T, at string)
		want          testTree
	}{
		"replaced, before a modify":          {old, testTree{"d/p": aFile("new")}, replaced, testTree{"d/p": aFile("theirs")}},
		"written in place, before a modify":  {old, testTree{"d/p": aFile("new")}, inPlace, testTree{"d/p": aFile("in place")}},
		"of the same size, before a modify":  {old, testTree{"d/p": aFile("new")}, sameSize, testTree{"d/p": aFile("OLD")}},
		"other bits, before a modify":        {old, testTree{"d/p": aFile("new")}, chmodded, testTree{"d/p": aFile("old").bits(0o600)}},
		"a link, before a modify":            {old, testTree{"d/p": aFile("new")}, linked, testTree{"d/p": aLink("elsewhere")}},
		"a directory, before a modify":       {old, testTree{"d/p": aFile("new")}, folder, testTree{"d/p/x": aFile("theirs")}},
		"replaced, before a link comes":      {old, testTree{"d/p": aLink("new")}, replaced, testTree{"d/p": aFile("theirs")}},
		"a file of which a link was":         {testTree{"d/p": aLink("old")}, testTree{"d/p": aFile("new")}, replaced, testTree{"d/p": aFile("theirs")}},
		"made, before a create":              {none, testTree{"d/p": aFile("new")}, made, testTree{"d/p": aFile("theirs")}},
		"a directory made, before a create":  {none, testTree{"d/p": aFile("new")}, func(t *testing.T, at string) { must(t, os.Mkdir(at, 0o755)) }, testTree{"d/p": aFolder()}},
		"replaced, before a delete":          {old, none, replaced, testTree{"d/p": aFile("theirs")}},
		"written in place, before a delete":  {old, none, inPlace, testTree{"d/p": aFile("in place")}},
		"a directory, before a delete":       {old, none, folder, testTree{"d/p/x": aFile("theirs")}},
		"a link, before a link is deleted":   {testTree{"d/p": aLink("old")}, none, linked, testTree{"d/p": aLink("elsewhere")}},
		"the same contents, before a modify": {old, testTree{"d/p": aFile("new")}, func(t *testing.T, at string) { replaceBy(t, at, "old") }, nil},
		"the same contents, before a delete": {old, none, func(t *testing.T, at string) { replaceBy(t, at, "old") }, nil},
		"removed, before a delete":           {old, none, func(t *testing.T, at string) { must(t, os.Remove(at)) }, nil},
		"removed, before a modify":           {old, testTree{"d/p": aFile("new")}, func(t *testing.T, at string) { must(t, os.Remove(at)) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			c.before.build(t, root)
			a, blobs := newExecutor(root)
			a.between = func(path string) { c.write(t, filepath.Join(root, filepath.FromSlash(path))) }
			outcomes, err := a.Run(t.Context(), plan(t, root, blobs, c.before, c.after), nil)
			must(t, err)
			if c.want == nil {
				c.after.check(t, root)
				return
			}
			wantKept(t, outcomes[0], dir.ErrChanged)
			c.want.check(t, root)
		})
	}
}

// TestUnlinkedAfterAKill: a process dies between putting a file aside and removing it.
func TestUnlinkedAfterAKill(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	before := testTree{"d/p": aFile("old"), "d/q": aFile("old"), "q": aFile("old")}
	before.build(t, root)
	a, blobs := newExecutor(root)
	changes := plan(t, root, blobs, before, testTree{"q": aFile("old")})
	for i, c := range changes {
		if c.Action == Delete {
			at := filepath.Join(root, filepath.FromSlash(c.Path))
			must(t, os.Rename(at, filepath.Join(filepath.Dir(at), dir.TempName(a.Token, i))))
		}
	}
	a.Resume = true
	applyAll(t, a, changes)
	testTree{"q": aFile("old")}.check(t, root)
}

// TestNoWriteIsLost: a program replaces a file once at some moment of a run. Where it came before the rename, its file
// stays; where it came after, too. It would be lost if the contents of the plan were there in the end.
func TestNoWriteIsLost(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("this system has no call that exchanges two names")
	}
	root := t.TempDir()
	at := filepath.Join(root, "p")
	refused := 0
	for round := range gittest.Rounds(2_000) {
		must(t, os.WriteFile(at, []byte("old "+strconv.Itoa(round)), 0o644))
		a, blobs := newExecutor(root)
		changes := []Change{{Path: "p", Action: Modify, Mode: 0o100644, Perm: 0o644, ID: blobs.put("new"), Was: expect(t, root, "p")}}
		if round%2 == 1 {
			changes[0] = Change{Path: "p", Action: Delete, Was: changes[0].Was}
		}
		var begun atomic.Bool
		written := make(chan error)
		must(t, os.WriteFile(at+"~", []byte("theirs"), 0o644))
		go func() {
			for !begun.Load() {
				runtime.Gosched()
			}
			for range round % 50 {
				_, _ = os.Lstat(at)
			}
			written <- os.Rename(at+"~", at)
		}()
		begun.Store(true)
		outcomes, err := a.Run(context.Background(), changes, nil)
		must(t, errors.Join(err, <-written))
		text, err := os.ReadFile(at)
		if string(text) != "theirs" {
			t.Fatalf("round %d: %q, %v: %+v", round, text, err, outcomes[0])
		}
		if outcomes[0].Err != nil {
			refused++
		}
	}
	if names, err := fs.Glob(os.DirFS(root), ".cairn-*"); err != nil || len(names) > 0 {
		t.Errorf("%s are left, %v", strings.Join(names, ", "), err)
	}
	t.Logf("%d of these were refused", refused)
}
