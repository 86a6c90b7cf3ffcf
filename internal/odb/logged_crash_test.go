package odb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/redo"
)

// promises are the publishes of childPromise, in order: small ones, one that is too large for a
// record, deletions, and a fold, which empties the log unless it is one beside publishes.
var promises = []struct {
	size int // of a blob that goes to refs; 0: only delete, or fold
	set  []string
	drop string
}{
	{size: 40, set: []string{"refs/cairn/a", "refs/cairn/disk"}},
	{size: 2 * redo.MaxRecord, set: []string{"refs/cairn/b", "refs/cairn/disk"}},
	{drop: "refs/cairn/a"},
	{size: 50, set: []string{"refs/cairn/a", "refs/cairn/disk"}},
	{},
	{size: 60, set: []string{"refs/cairn/c", "refs/cairn/disk"}},
}

func promisedBlob(n int) []byte { return noise(uint64(500+n), promises[n].size) }

// childPromise makes the publishes and prints a line after each.
func childPromise(db *DB) error {
	return keepPromises(db, func(db *DB) error {
		_, err := db.Fold(context.Background())
		return err
	})
}

// childPromiseBeside is childPromise with a fold beside publishes.
func childPromiseBeside(db *DB) error { return keepPromises(db, foldBeside) }

func keepPromises(db *DB, fold func(*DB) error) error {
	for n, p := range promises {
		err := keepPromise(db, n, fold)
		if err != nil {
			return err
		}
		fmt.Println("kept", n, p.drop)
	}
	return nil
}

func keepPromise(db *DB, n int, fold func(*DB) error) error {
	p := promises[n]
	unlock, err := db.Lock(context.Background())
	if err != nil {
		return err
	}
	defer unlock()
	switch {
	case p.drop != "":
		return ignoreNotFound(db.DeleteRef(p.drop))
	case p.size == 0:
		return fold(db)
	}
	b := db.NewBatch()
	defer b.Discard()
	id, err := b.Add(object.Blob, promisedBlob(n))
	if err != nil {
		return err
	}
	var refs []RefUpdate
	for _, name := range p.set {
		refs = append(refs, RefUpdate{name, id})
	}
	return b.Commit(refs...)
}

func ignoreNotFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// stateAfter returns the refs after n publishes.
func stateAfter(n int, begin map[string]object.ID) map[string]object.ID {
	refs := maps.Clone(begin)
	for i, p := range promises[:n] {
		delete(refs, p.drop)
		for _, name := range p.set {
			refs[name] = object.Sum(object.Blob, promisedBlob(i))
		}
	}
	return refs
}

// TestKilledPromises kills a process at each of its write-type calls. The power goes after that,
// at once or when another process has gone on. Every publish that the process has reported is
// there, and the next one as a whole or not at all.
func TestKilledPromises(t *testing.T) {
	t.Parallel()
	for _, child := range []string{"promise", "promise beside"} {
		t.Run(child, func(t *testing.T) {
			t.Parallel()
			killedPromises(t, child)
		})
	}
}

func killedPromises(t *testing.T, what string) {
	r := rand.New(rand.NewPCG(3, 4))
	pristine := newLogged(t)
	begin := make(map[string]object.ID)
	for i := range foldAt - 2 {
		begin["refs/cairn/old"] = put(t, pristine, fmt.Appendf(nil, "old %d", i), "refs/cairn/old")
	}
	w, err := pristine.log.Lock()
	must(t, err)
	must(t, w.Flush())
	w.Unlock()
	must(t, pristine.Close())
	for n := gittest.First(); ; n += 2 * gittest.Stride() {
		dir := filepath.Join(t.TempDir(), "store")
		must(t, os.CopyFS(dir, os.DirFS(pristine.Dir())))
		before := image(t, dir)
		child := childCommand(what, dir)
		crash := gittest.KillAt(t, []string{child.Path}, child.Env, gittest.WriteCalls, n)
		if !crash.Hit && crash.ExitCode != 0 {
			t.Fatalf("undisturbed: %s", crash)
		}
		inspectPromises(t, fmt.Sprintf("killed at call %d, %s", n, crash.Call), dir, strings.Count(crash.Stdout, "kept"), begin, before, r)
		if !crash.Hit {
			t.Logf("%d write-type system calls", n-1)
			return
		}
	}
}

func inspectPromises(t *testing.T, what, dir string, kept int, begin map[string]object.ID, before map[string][]byte, r *rand.Rand) {
	t.Helper()
	db := openLogged(t, dir, 1)
	want := []map[string]object.ID{stateAfter(kept, begin), stateAfter(min(kept+1, len(promises)), begin)}
	if goOn := r.IntN(2) == 0; goOn {
		id := put(t, db, []byte("gone on"), "refs/cairn/next")
		want[0]["refs/cairn/next"], want[1]["refs/cairn/next"] = id, id
	}
	losePower(t, db, before, r)
	must(t, db.Close())
	after := openLogged(t, dir, 2)
	defer after.Close()
	must(t, after.Sweep())
	refs := make(map[string]object.ID)
	for _, ref := range must1(after.Refs("refs/")) {
		refs[ref.Name] = ref.ID
	}
	for _, state := range append(want, refs) { // refs are put in place one after the other
		for name := range state {
			if id := refs[name]; id != want[0][name] && id != want[1][name] {
				t.Fatalf("%s, %d kept: %s is %s, want one of %v", what, kept, name, id, want)
			}
		}
	}
	for name, id := range refs {
		if _, _, err := after.Read(id); err != nil {
			t.Fatalf("%s: %s: %v", what, name, err)
		}
	}
	for _, f := range Faults(t, after) {
		if !strings.HasPrefix(f, "permissions: ") { // the copy has other permissions
			t.Fatalf("%s: %s", what, f)
		}
	}
}
