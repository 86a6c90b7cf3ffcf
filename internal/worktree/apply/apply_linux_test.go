package apply

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

const nobody = 65534

// giveAway hands the tree below root to another user, if the test runs as root.
func giveAway(t *testing.T, root string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	must(t, os.Chmod(filepath.Dir(root), 0o711)) // made by t.TempDir for this test
	for up := filepath.Dir(root); up != "/"; up = filepath.Dir(up) {
		if fi, err := os.Stat(up); err != nil || fi.Mode()&0o001 == 0 {
			t.Skipf("%s is closed to other users", up)
		}
	}
	must(t, filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(at, nobody, nobody)
	}))
}

// asNobody runs do with the rights of that user: those of the thread, which Linux
// keeps apart, and which ends with do. For a test that does not run as root nothing
// changes.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	if os.Getuid() != 0 {
		do()
		return
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good, so that the thread ends with the goroutine
		if err := errors.Join(setfs(unix.SYS_SETFSGID), setfs(unix.SYS_SETFSUID)); err != nil {
			t.Error(err)
			return
		}
		do()
	}()
	<-done
}

func setfs(call uintptr) error {
	unix.RawSyscall(call, nobody, 0, 0)
	if now, _, _ := unix.RawSyscall(call, ^uintptr(0), 0, 0); now != nobody {
		return errors.New("cannot act as another user")
	}
	return nil
}

// TestApplyInReadOnlyDirectories: directories that their owner may not write to,
// list or search are opened for the time being, and closed again.
func TestApplyInReadOnlyDirectories(t *testing.T) {
	t.Parallel()
	for _, perm := range []uint16{0o555, 0o500, 0o300, 0o600, 0o444, 0o111, 0} {
		root := tempRoot(t)
		before := testTree{
			"ro": aFolder().bits(perm), "ro/edit": aFile("old"), "ro/gone": aFile("x"), "ro/mode": aFile("x"), "ro/l": aLink("x"),
			"ro/sub": aFolder().bits(perm), "ro/sub/f": aFile("old"), "ro/sub/keep": aFile("x"), "ro/gonedir": aFolder().bits(perm), "ro/gonedir/x": aFile("x"),
			"ro/becomes": aFolder().bits(perm), "ro/becomes/x": aFile("x"), "ro/chmod": aFolder().bits(perm), "ro/chmod/f": aFile("old"),
		}
		after := testTree{
			"ro": aFolder().bits(perm), "ro/edit": aFile("new"), "ro/mode": aFile("x").bits(0o600), "ro/l": aLink("y"),
			"ro/sub": aFolder().bits(perm), "ro/sub/f": aFile("new"), "ro/sub/keep": aFile("x"), "ro/becomes": aFile("file"),
			"ro/chmod": aFolder().bits(0o711), "ro/chmod/f": aFile("new"), "ro/made": aFolder().bits(perm), "ro/made/f": aFile("x"),
		}
		if os.Getuid() != 0 && perm&0o500 != 0o500 {
			continue // the test could not make its plan
		}
		before.build(t, root)
		giveAway(t, root)
		a, blobs := newExecutor(root)
		a.Sync = perm == 0o555
		changes := plan(t, root, blobs, before, after)
		asNobody(t, func() { applyAll(t, a, changes) })
		after.check(t, root)
		if t.Failed() {
			t.Fatalf("with bits %04o", perm)
		}
	}
}

// TestApplyPutsBitsBackAfterFailures: a read-only directory in which everything goes
// wrong, or the context ends, has its bits again.
func TestApplyPutsBitsBackAfterFailures(t *testing.T) {
	t.Parallel()
	root := tempRoot(t)
	before := testTree{"ro": aFolder().bits(0o555), "ro/f": aFile("x")}
	before.build(t, root)
	giveAway(t, root)
	must(t, os.Chmod(root, 0o555))
	a, blobs := newExecutor(root)
	ctx, cancel := context.WithCancel(context.Background())
	changes := []Change{
		{Path: "at root", Action: Mkdir, Mode: object.Dir, Perm: 0o755},
		{Path: "ro/corrupt", Action: Create, Mode: object.Regular, Perm: 0o644, ID: blobs.put("x")},
		{Path: "ro/f", Action: Create, Mode: object.Regular, Perm: 0o644, ID: blobs.put("x")},
		{Path: "ro/late", Action: Create, Mode: object.Regular, Perm: 0o644, ID: blobs.put("x")},
	}
	blobs.tail[changes[1].ID] = fs.ErrClosed
	asNobody(t, func() {
		outcomes, err := a.Run(ctx, changes, func(done, _ int) {
			if done == 3 {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || !outcomes[0].Done {
			t.Errorf("%v, %+v", err, outcomes[0])
		}
		for _, out := range outcomes[1:] {
			if out.Done || out.Err == nil {
				t.Errorf("%+v", out)
			}
		}
	})
	before["at root"] = aFolder()
	before.check(t, root)
	if fi, err := os.Stat(root); err != nil || fi.Mode().Perm() != 0o555 {
		t.Errorf("the root has the bits %v, %v", fi.Mode(), err)
	}
}

// TestApplyUnreadableFiles: bits of files that their owner may not open.
func TestApplyUnreadableFiles(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs root to read what it plans")
	}
	root := t.TempDir()
	before, after := testTree{}, testTree{}
	for _, perm := range []uint16{0, 0o200, 0o100, 0o044} {
		name := object.Mode(perm).String()
		before["chmod "+name], after["chmod "+name] = aFile("x").bits(perm), aFile("x").bits(0o640)
		before["close "+name], after["close "+name] = aFile("x"), aFile("x").bits(perm)
		before["write "+name], after["write "+name] = aFile("x").bits(perm), aFile("y").bits(perm)
		before["gone "+name] = aFile("x").bits(perm)
	}
	before.build(t, root)
	giveAway(t, root)
	a, blobs := newExecutor(root)
	changes := plan(t, root, blobs, before, after)
	asNobody(t, func() { applyAll(t, a, changes) })
	after.check(t, root)
}

// TestApplyForeignDirectory: a directory of another user is an error of the paths in it, and of no
// others.
func TestApplyForeignDirectory(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs root to make a directory of another user")
	}
	root := t.TempDir()
	before := testTree{"theirs/f": aFile("x"), "mine/f": aFile("x")}
	before.build(t, root)
	a, blobs := newExecutor(root)
	giveAway(t, root)
	must(t, os.Chown(filepath.Join(root, "theirs"), 0, 0))
	after := testTree{"theirs/f": aFile("y"), "theirs/g": aFile("y"), "mine/f": aFile("y")}
	changes := plan(t, root, blobs, before, after)
	asNobody(t, func() {
		outcomes, err := a.Run(context.Background(), changes, nil)
		must(t, err)
		for _, out := range outcomes {
			if strings.HasPrefix(out.Path, "mine") {
				must(t, out.Err)
			} else {
				wantKept(t, out, fs.ErrPermission)
			}
		}
	})
	testTree{"theirs/f": aFile("x"), "mine/f": aFile("y")}.check(t, root)
}

// TestApplyFullDisk: no space is an error of that path, and nothing is left of it.
func TestApplyFullDisk(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := unix.Mount("cairn-test", root, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("cannot mount a small file system: %v", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(root, 0)) })
	before := testTree{"big": aFile("mine"), "small": aFile("mine")}
	before.build(t, root)
	a, blobs := newExecutor(root)
	after := testTree{"big": aFile(strings.Repeat("x", 2<<20)), "small": aFile("theirs")}
	outcomes, err := a.Run(context.Background(), plan(t, root, blobs, before, after), nil)
	must(t, err)
	wantKept(t, outcomes[0], syscall.ENOSPC)
	must(t, outcomes[1].Err)
	testTree{"big": aFile("mine"), "small": aFile("theirs")}.check(t, root)
}

// TestApplyNeverOpensSpecialFiles: a FIFO without a writer in the place of an expected file, and of
// a directory on the way.
func TestApplyNeverOpensSpecialFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"fifo", "dir"} {
		must(t, unix.Mkfifo(filepath.Join(root, name), 0o644))
	}
	a, blobs := newExecutor(root)
	id := blobs.put("x")
	for _, resume := range []bool{false, true} {
		a.Resume = resume
		for _, c := range []Change{
			{Path: "fifo", Action: Create, Mode: object.Regular, Perm: 0o644, ID: id},
			{Path: "fifo", Action: Modify, Mode: object.Regular, Perm: 0o644, ID: id, Was: &dir.State{Mode: object.Regular, Perm: 0o644, ID: id}},
			{Path: "fifo", Action: Modify, Mode: object.Regular, Perm: 0o644, ID: id, Was: &dir.State{Perm: 0o644}},
			{Path: "fifo", Action: Chmod, Mode: object.Regular, Perm: 0o600, Was: &dir.State{Mode: object.Regular, Perm: 0o644, ID: id}},
			{Path: "fifo", Action: Delete, Was: &dir.State{Mode: object.Regular, Perm: 0o644, ID: id}},
			{Path: "fifo", Action: Rmdir}, {Path: "dir", Action: Mkdir, Mode: object.Dir, Perm: 0o755},
			{Path: "dir/f", Action: Create, Mode: object.Regular, Perm: 0o644, ID: id}, {Path: "dir/f", Action: Delete},
		} {
			wantKept(t, applyOne(t, a, c), dir.ErrChanged)
		}
	}
	for _, name := range []string{"fifo", "dir"} {
		if fi, err := os.Lstat(filepath.Join(root, name)); err != nil || fi.Mode()&fs.ModeNamedPipe == 0 {
			t.Errorf("%s: %v, %v", name, fi, err)
		}
	}
}

// TestApplyOnANearlyFullDisk: there is room for one file beside those that are
// replaced, and no more. Staged files must be renamed to make room, instead of failing
// the rest.
func TestApplyOnANearlyFullDisk(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := unix.Mount("cairn-test", root, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("cannot mount a small file system: %v", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(root, 0)) })
	before, after := testTree{}, testTree{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		before[name], after[name] = aFile(strings.Repeat(name, 130<<10)), aFile(strings.Repeat(strings.ToUpper(name), 130<<10))
	}
	before.build(t, root)
	a, blobs := newExecutor(root)
	a.Sync = true
	applyAll(t, a, plan(t, root, blobs, before, after))
	after.check(t, root)
}
