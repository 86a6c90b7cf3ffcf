package apply

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

func TestTempName(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"t0", "0123456789abcdef", "a-b_C", "-", "9-9", strings.Repeat("x", dir.MaxToken)} {
		for _, n := range []int{0, 7, 1 << 30} {
			name := dir.TempName(token, n)
			if got, ok := dir.ParseTempName(name); !ok || got != token || !dir.IsTempName(name) || len(name) > 255 {
				t.Errorf("%q: token %q, %t", name, got, ok)
			}
		}
	}
	for _, name := range []string{
		"", ".cairn", ".cairn-", ".cairn-.tmp", ".cairn--.tmp", ".cairn-t0.tmp", ".cairn-t0-.tmp", ".cairn-t0-x.tmp", ".cairn-t0-1.tmp~",
		".cairn-t0-01.tmp", ".cairn-t0-+1.tmp", ".cairn-t0--1.tmp2", "x.cairn-t0-1.tmp", ".cairn-t 0-1.tmp", ".cairn-t/0-1.tmp", ".Cairn-t0-1.tmp",
		".cairn-" + strings.Repeat("x", dir.MaxToken+1) + "-1.tmp", ".cairn-t0-99999999999999999999.tmp", ".cairn-\xff-1.tmp", ".cairn--1.tmp",
	} {
		if dir.IsTempName(name) {
			t.Errorf("%q passes for a temporary name", name)
		}
	}
}

func TestRemoveTempsTakesItsOwnOnly(t *testing.T) {
	t.Parallel()
	root, outside := t.TempDir(), t.TempDir()
	tree := testTree{
		"a/.cairn-t0-0.tmp": aFile("half"), "a/.cairn-t0-12345.tmp": aLink("x"), // ours
		"a/.cairn-t0-3.tmp/f": aFile("in a directory"), "a/.cairn-t1-0.tmp": aFile("other"), "a/.cairn-t0-1-0.tmp": aFile("other"),
		"a/.cairn-t0-x.tmp": aFile("no number"), "b/.cairn-t0-0.tmp": aFile("not a directory of the plan"), ".cairn-t0-0.tmp": aFile("root"),
		"bits/.cairn-t0-7.tmp": aFile("of a file with other names"), "bits/f": aFile("it"), "dirbits/.cairn-t0-8.tmp": aFile("nothing is written for a directory"),
		"removed/.cairn-t0-9.tmp": aFile("put aside"), "link": aLink(outside), "file": aFile("no directory"),
	}
	tree.build(t, root)
	testTree{".cairn-t0-4.tmp": aFile("outside")}.build(t, outside)
	changes := []Change{
		{Path: "a/f", Action: Create, Mode: object.Regular}, {Path: "link/f", Action: Modify, Mode: object.Regular},
		{Path: "file/f", Action: Create, Mode: object.Regular}, {Path: "gone/f", Action: Create, Mode: object.Regular},
		{Path: "bits/f", Action: Chmod, Mode: object.Regular}, {Path: "dirbits/d", Action: Chmod, Mode: object.Dir},
		{Path: "removed/f", Action: Delete}, {Path: "../x/f", Action: Create, Mode: object.Regular},
	}
	must(t, RemoveTemps(root, "t0", changes))
	delete(tree, "a/.cairn-t0-0.tmp")
	delete(tree, "a/.cairn-t0-12345.tmp")
	delete(tree, "bits/.cairn-t0-7.tmp")
	delete(tree, "removed/.cairn-t0-9.tmp")
	tree["removed"] = aFolder()
	tree.check(t, root)
	must(t, RemoveTemps(root, "t0", append(changes, Change{Path: "f", Action: Create, Mode: object.Regular})))
	delete(tree, ".cairn-t0-0.tmp")
	tree.check(t, root)
	testTree{".cairn-t0-4.tmp": aFile("outside")}.check(t, outside)
}

func TestRemoveTempsRefusesBadTokens(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, token := range []string{"", "..", "a/b", "*", strings.Repeat("x", dir.MaxToken+1)} {
		if err := RemoveTemps(root, token, nil); err == nil {
			t.Errorf("token %q passes", token)
		}
	}
	if err := RemoveTemps(filepath.Join(root, "absent"), "t0", nil); !os.IsNotExist(errorsCause(err)) {
		t.Errorf("absent root: %v", err)
	}
}

// errorsCause is the innermost error.
func errorsCause(err error) error {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err
}
