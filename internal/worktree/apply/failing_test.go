package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

func TestApplyRefusesChangesWithoutSense(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	tree := testTree{"d": aFolder(), "f": aFile("x"), "l": aLink("f")}
	tree.build(t, root)
	a, blobs := newExecutor(root)
	id := blobs.put("y")
	dir, file, link := expect(t, root, "d"), expect(t, root, "f"), expect(t, root, "l")
	for _, c := range []Change{
		{Path: "f"}, {Path: "f", Action: 99},
		{Path: "n", Action: Create, Mode: object.Dir, Perm: 0o755}, {Path: "n", Action: Create, Mode: object.Gitlink, ID: id},
		{Path: "n", Action: Create, ID: id}, {Path: "n", Action: Create, Mode: object.Regular, Perm: 0o10644, ID: id},
		{Path: "d", Action: Modify, Mode: object.Regular, ID: id, Was: dir},
		{Path: "d", Action: Delete, Was: dir}, {Path: "f", Action: Rmdir, Was: file},
		{Path: "f", Action: Mkdir, Mode: object.Dir, Was: file}, {Path: "n", Action: Mkdir, Mode: object.Regular},
		{Path: "f", Action: Chmod, Mode: object.Regular, Perm: 0o600}, {Path: "l", Action: Chmod, Mode: object.Symlink, Was: link},
		{Path: "d", Action: Chmod, Mode: object.Regular, Perm: 0o600, Was: dir},
	} {
		wantKept(t, applyOne(t, a, c), fs.ErrInvalid)
	}
	tree.check(t, root)
}

func TestApplyEndsWithItsContext(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	a, blobs := newExecutor(root)
	ctx, cancel := context.WithCancel(context.Background())
	changes := plan(t, root, blobs, testTree{}, testTree{"a": aFile("1"), "b": aFile("2"), "c": aFile("3")})
	outcomes, err := a.Run(ctx, changes, func(done, _ int) {
		if done == 2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || !outcomes[0].Done || !outcomes[1].Done {
		t.Errorf("%v, %+v", err, outcomes)
	}
	wantKept(t, outcomes[2], context.Canceled)
	testTree{"a": aFile("1"), "b": aFile("2")}.check(t, root)
}

// TestApplyOnePathDoesNotStopAnother also checks that progress counts every change
// once, and that many writes, which are shared out, end up like few.
func TestApplyOnePathDoesNotStopAnother(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	after := testTree{"blocked": aFile("in the way")}
	after.build(t, root)
	a, blobs := newExecutor(root)
	var changes []Change
	for i := range 40 * chunkSize {
		path := fmt.Sprintf("d%02d/%d", i%37, i)
		if i%10 == 0 {
			path = "blocked/" + path
		} else {
			after[path] = aFile(fmt.Sprint(i))
		}
		changes = append(changes, Change{Path: path, Action: Create, Mode: object.Regular, Perm: 0o644, ID: blobs.put(fmt.Sprint(i))})
	}
	last := 0
	outcomes, err := a.Run(context.Background(), changes, func(done, _ int) {
		if done != last+1 {
			t.Errorf("progress went from %d to %d", last, done)
		}
		last = done
	})
	must(t, err)
	for i, out := range outcomes {
		if out.Path != changes[i].Path {
			t.Errorf("outcome %d is that of %q", i, out.Path)
		}
		if i%10 == 0 {
			wantKept(t, out, dir.ErrChanged)
		} else {
			must(t, out.Err)
		}
	}
	if last != len(changes) {
		t.Errorf("progress ended at %d of %d", last, len(changes))
	}
	after.check(t, root)
}

func TestApplyUnusableRoot(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	testTree{"file": aFile("x")}.build(t, root)
	for _, path := range []string{"absent", "file"} {
		if _, err := (&Executor{Root: filepath.Join(root, path), Token: "t"}).Run(context.Background(), nil, nil); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("root %q: %v", path, err)
		}
	}
	for _, token := range []string{"", "a/b", ".", "a b"} {
		if _, err := (&Executor{Root: root, Token: token}).Run(context.Background(), nil, nil); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("token %q: %v", token, err)
		}
	}
}

// TestApplyTokenUsedTwice: another operation's temporary file is not taken over.
func TestApplyTokenUsedTwice(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	tree := testTree{dir.TempName("t0", 0): aFile("half of it")}
	tree.build(t, root)
	a, blobs := newExecutor(root)
	for _, mode := range []object.Mode{object.Regular, object.Symlink} {
		c := Change{Path: "f" + mode.String(), Action: Create, Mode: mode, Perm: 0o644, ID: blobs.put("whole")}
		wantKept(t, applyOne(t, a, c), fs.ErrExist)
		tree.check(t, root)
	}
}
