package odb

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// killAt runs a child until its n-th system call of that name. It reports whether the child was
// killed. A child that makes fewer calls is not.
func killAt(t *testing.T, child *exec.Cmd, call string, n int) bool {
	t.Helper()
	crash := gittest.KillAt(t, []string{child.Path}, child.Env, call, n)
	if !crash.Hit && crash.ExitCode != 0 {
		t.Fatalf("%s %d: %s: %s", call, n, crash, crash.Stderr)
	}
	return crash.Hit
}

// killEverywhere kills at the first call and at every few calls after it, until there are no
// more.
func killEverywhere(t *testing.T, calls []string, crashAt func(t *testing.T, call string, n int) bool) {
	for _, call := range calls {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			n := 1 // a child makes some calls only once
			for ; crashAt(t, call, n); n += (gittest.Stride() + 1) / 2 {
			}
			t.Logf("%d calls", n-1)
			if n == 1 {
				t.Errorf("the child never calls %s", call)
			}
		})
	}
}

// TestCrashes kills a process that makes one write of every kind, at every system call that
// matters. Wherever it died: git finds no fault, the old objects read back, the new ones are all
// there or none is, and the next process gets the lock, finishes the same work and leaves no
// leftover.
func TestCrashes(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	calls := []string{"write", "pwrite64", "renameat", "unlinkat", "linkat", "fsync", "flock"} // the log: TestKilledPromises
	killEverywhere(t, calls, crashAt)
}

// TestR91CrashesOfCreate kills the maker of a store. The next maker succeeds and removes the rest
// of the first.
func TestR91CrashesOfCreate(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	calls := []string{"write", "mkdirat", "renameat", "unlinkat", "fsync", "flock"}
	killEverywhere(t, calls, func(t *testing.T, call string, n int) bool {
		dir := filepath.Join(t.TempDir(), "snapshot", "store")
		killed := killAt(t, childCommand("none", dir), call, n)
		db, err := Create(dir, testRoot, Options{NoSync: true})
		if err != nil {
			t.Fatalf("killed at %s %d: %v", call, n, err)
		}
		defer db.Close()
		id := commit(t, db, "x")[0]
		wantBlob(t, reopen(t, db), id, "x")
		fsck(t, db)
		if _, err := Create(filepath.Join(filepath.Dir(dir), "next"), testRoot, Options{NoSync: true}); err != nil {
			t.Fatal(err)
		}
		names, err := readNames(filepath.Dir(dir))
		must(t, err)
		slices.Sort(names)
		if !slices.Equal(names, []string{"next", "store"}) {
			t.Fatalf("killed at %s %d: left %q", call, n, names)
		}
		return killed
	})
}

// needStrace skips a test where strace cannot tell the calls of a process.
func needStrace(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	if out, err := exec.Command("strace", "-qq", "-e", "trace=none", "true").CombinedOutput(); err != nil {
		t.Skipf("strace may not trace here: %v: %s", err, out)
	}
}

// A loss of power leaves a state that depends on the order of flushes and renames: pack and index
// are flushed before they get their names, the pack gets its name first, and the names are
// flushed before a replaced file is removed.
func TestOrderOfACommit(t *testing.T) {
	t.Parallel()
	needStrace(t)
	db := newStore(t)
	commitEach(t, db, numbered("before", 0, 7)...) // one more and they are folded
	log := filepath.Join(t.TempDir(), "log")
	child := childCommand("work", db.Dir())
	cmd := exec.Command("strace", "-f", "-y", "-qq", "-o", log, "-e", "trace=fsync,renameat,unlinkat", "-e", "status=successful", child.Path)
	cmd.Env = child.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(log)
	must(t, err)
	var order []string
	for line := range strings.Lines(string(data)) {
		if step := packStep(line, db.path(packDir)); step != "" {
			order = append(order, step)
		}
	}
	write := []string{"flush temporary", "flush temporary", "name .pack", "name .idx", "flush directory"}
	want := append(slices.Clone(write), write...)
	for range 8 {
		want = append(want, "remove .idx", "remove .pack")
	}
	if !slices.Equal(order, want) {
		t.Errorf("order %q,\nwant %q;\n%s", order, want, data)
	}
}

// packStep names the step of a line of strace's log among the packs.
func packStep(line, dir string) string {
	if !strings.Contains(line, dir) {
		return ""
	}
	ext := pack.Ext
	if strings.Contains(line, pack.IndexExt) {
		ext = pack.IndexExt
	}
	switch {
	case strings.Contains(line, "fsync(") && strings.Contains(line, dir+">"):
		return "flush directory"
	case strings.Contains(line, "fsync(") && strings.Contains(line, pack.TempPrefix):
		return "flush temporary"
	case strings.Contains(line, "renameat("):
		return "name " + ext
	case strings.Contains(line, "unlinkat("):
		return "remove " + ext
	}
	return line
}

// crashAt kills the worker at its n-th call, and checks the store.
func crashAt(t *testing.T, call string, n int) bool {
	t.Helper()
	db, err := Create(filepath.Join(t.TempDir(), "store"), testRoot, Options{NoSync: true})
	must(t, err)
	defer db.Close()
	ids := commitEach(t, db, numbered("before", 0, 7)...) // one more pack and they are folded
	must(t, db.SetRef("refs/cairn/old", ids[0]))
	must(t, db.SetRef(workRef, ids[1]))
	must(t, os.WriteFile(db.path("packed-refs"), []byte(ids[2].String()+" refs/cairn/old\n"), 0o600))

	killed := killAt(t, childCommand("work", db.Dir()), call, n)
	what := fmt.Sprintf("killed at %s %d", call, n)

	after, err := Open(db.Dir(), testRoot, Options{NoSync: true})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer after.Close()
	for i, id := range ids {
		wantBlob(t, after, id, fmt.Sprint("before ", i))
	}
	present := 0
	for i := range 6 {
		if ok, err := after.Has(object.Sum(object.Blob, workBlob(i))); err != nil {
			t.Fatalf("%s: %v", what, err)
		} else if ok {
			present++
		}
	}
	if present != 0 && present != 6 {
		t.Fatalf("%s: %d of 6 objects are there", what, present)
	}
	wantRefs(t, after, what, ids, present == 6)
	list, err := after.Journals()
	if err != nil || len(list) > 1 || len(list) == 1 && (list[0].Err != nil || string(list[0].Data) != "under way") {
		t.Fatalf("%s: journals %v, %v", what, list, err)
	}
	fsck(t, after)

	if out, err := childCommand("work", db.Dir()).CombinedOutput(); err != nil {
		t.Fatalf("%s: the next one fails: %v: %s", what, err, out)
	}
	unlock, err := after.Lock(t.Context())
	must(t, err)
	must(t, after.Sweep())
	must(t, unlock())
	wantClean(t, after, what)
	if _, err := after.Ref("refs/cairn/old"); !errors.Is(err, ErrNotFound) {
		t.Fatalf("%s: the deleted ref: %v", what, err)
	}
	for i := range 6 {
		wantBlob(t, after, object.Sum(object.Blob, workBlob(i)), string(workBlob(i)))
	}
	fsck(t, after)
	return killed
}

// wantRefs checks that the refs are as before or as after the work.
func wantRefs(t *testing.T, db *DB, what string, ids []object.ID, stored bool) {
	t.Helper()
	got, err := db.Ref(workRef)
	if err != nil || got != ids[1] && !(stored && got == object.Sum(object.Blob, workBlob(5))) {
		t.Fatalf("%s: %s is %s, %v", what, workRef, got, err)
	}
	// The ref to be deleted has a loose value and an older, packed one, which must
	// not come back.
	if got, err := db.Ref("refs/cairn/old"); got != ids[0] && !errors.Is(err, ErrNotFound) {
		t.Fatalf("%s: refs/cairn/old is %s, %v", what, got, err)
	}
}

// wantClean fails if temporary files or halves of packs lie in the store.
func wantClean(t testing.TB, db *DB, what string) {
	t.Helper()
	for _, dir := range []string{".", privateDir, journalDir, packDir} {
		names, err := readNames(db.path(dir))
		must(t, err)
		for _, name := range names {
			if strings.Contains(name, "tmp") || strings.HasSuffix(name, ".lock") {
				t.Errorf("%s: left %s in %s", what, name, dir)
			}
		}
	}
	names, err := readNames(db.path(packDir))
	must(t, err)
	if packs := len(db.PackNames()); 2*packs != len(names) {
		t.Errorf("%s: %d packs and files %q", what, packs, names)
	}
}
