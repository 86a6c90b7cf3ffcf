package apply

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// TestApplyOnSeveralDevices: each file system is flushed by itself, as it can.
func TestApplyOnSeveralDevices(t *testing.T) {
	if !gittest.Isolated(t) {
		return
	}
	needOrder(t)
	before := testTree{"a/f": aFile("1"), "mnt/b/f": aFile("1"), "mnt/f": aFile("1"), "one": aFile("1"), "z/f": aFile("1")}
	after := testTree{"a/f": aFile("2"), "mnt/b/f": aFile("2"), "mnt/f": aFile("2"), "one": aFile("1").bits(0o600), "z/f": aFile("2")}
	root := t.TempDir()
	mounted := filepath.Join(root, "mnt")
	must(t, os.Mkdir(mounted, 0o755))
	must(t, unix.Mount("none", mounted, "tmpfs", 0, "size=1m,mode=755"))
	defer unix.Unmount(mounted, 0)
	fi, err := os.Stat(root)
	must(t, err)
	outer := dir.DeviceOf(fi)
	for path, want := range map[string]testNode(before) {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755))
		must(t, os.WriteFile(filepath.Join(root, path), []byte(want.Data), 0o644))
	}
	must(t, unix.Mount(filepath.Join(mounted, "f"), filepath.Join(root, "one"), "", unix.MS_BIND, "")) // a file of the other one
	defer unix.Unmount(filepath.Join(root, "one"), 0)
	must(t, os.WriteFile(filepath.Join(root, "one"), []byte("1"), 0o644))

	a, blobs := newExecutor(root)
	a.Sync = true
	a.order = func(f *os.File) (uint64, bool) {
		device, ok := takenForOrdered(f)
		return device, ok && device == outer
	}
	changes := plan(t, root, blobs, before, after)
	changes = slices.DeleteFunc(changes, func(c Change) bool { return c.Path == "mnt/f" }) // is the same file as one
	run := runFlushed(t, a, changes)
	for path, alone := range map[string]bool{"a": false, "z": false, "mnt/b": true} {
		if got := run.touched[path]; got == nil || (got.device == flushedAlone) != alone {
			t.Errorf("%s: %+v, want it flushed alone: %t", path, got, alone)
		}
	}
	if last := run.final[outer]; len(run.final) != 1 || len(last) != 1 || last[0].Path != "z" {
		t.Errorf("flushed for all: %v, want z", run.final)
	}
	after["mnt/f"] = after["one"]
	after.check(t, root)

	a.order = takenForOrdered
	run = runFlushed(t, a, plan(t, root, blobs, testTree{"a/f": aFile("2"), "mnt/b/f": aFile("2")}, testTree{"a/f": aFile("3"), "mnt/b/f": aFile("3")}))
	if len(run.final) != 2 {
		t.Errorf("flushed for all: %v, want one of each file system", run.final)
	}
}

// TestApplyOnAFullDisk: a file that does not fit keeps its old contents, and no temporary
// file is left.
func TestApplyOnAFullDisk(t *testing.T) {
	if !gittest.Isolated(t) {
		return
	}
	for _, flush := range flushModes {
		root := t.TempDir()
		must(t, unix.Mount("none", root, "tmpfs", 0, "size=1m,mode=755"))
		before := testTree{"a": aFile("old"), "b": aFile("old"), "c": aFile("old")}
		before.build(t, root)
		a, blobs := newExecutor(root)
		flush(a)
		changes := plan(t, root, blobs, before, testTree{
			"a": aFile(strings.Repeat("a", 500<<10)), "b": aFile(strings.Repeat("b", 4<<20)), "c": aFile(strings.Repeat("c", 400<<10)),
		})
		outcomes, err := a.Run(t.Context(), changes, nil)
		must(t, err)
		must(t, errors.Join(outcomes[0].Err, outcomes[2].Err))
		wantKept(t, outcomes[1], syscall.ENOSPC)
		testTree{"a": aFile(strings.Repeat("a", 500<<10)), "b": aFile("old"), "c": aFile(strings.Repeat("c", 400<<10))}.check(t, root)
		must(t, unix.Unmount(root, 0))
	}
}

func TestAtLeast(t *testing.T) {
	t.Parallel()
	for release, want := range map[string]bool{
		"5.2": true, "5.2.0-rc1": true, "6.0": true, "6.18.44-fc-v769": true, "5.10.0-8-amd64": true, "10.1": true, "5.2+": true,
		"5.1.21": false, "4.19.0-27-amd64": false, "": false, "5": false, "linux": false, "5.x": false,
	} {
		if got := atLeast(release, 5, 2); got != want {
			t.Errorf("%q is at least 5.2: %t", release, got)
		}
	}
	if !awaitsAll() {
		t.Log("this system cannot wait for contents alone")
	}
}
