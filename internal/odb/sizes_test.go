package odb

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// The sizes of whole objects and of deltas, in packs of cairn's and of git's, are the sizes of
// their contents. An absent object has none.
func TestPackedSizes(t *testing.T) {
	t.Parallel()
	needGit(t)
	db := newStore(t)
	var ids []object.ID
	want := make(map[object.ID]int64)
	base := prose(7, 5000)
	for i := range 120 {
		blob := append(slices.Clone(base[:100+30*i]), byte(i))
		if i%5 == 0 {
			blob = prose(uint64(i), 1+i*i)
		}
		id := object.Sum(object.Blob, blob)
		want[id] = int64(len(blob))
		commit(t, db, string(blob))
		ids = append(ids, id, id)
	}
	check := func(db *DB) {
		t.Helper()
		sizes := db.PackedSizes(append(slices.Clone(ids), object.ID{1, 2, 3}))
		for i, id := range ids {
			if sizes[i] != want[id] {
				t.Fatalf("%d packs: %s has %d bytes, want %d", len(db.PackNames()), id, sizes[i], want[id])
			}
		}
		if n := sizes[len(ids)]; n != -1 {
			t.Errorf("what is not there has %d bytes", n)
		}
	}
	check(db)
	deltas := newStore(t)
	var list strings.Builder
	for id := range want {
		fmt.Fprintln(&list, id)
	}
	git(t, db.Dir(), list.String(), "pack-objects", "-q", "--no-reuse-delta", deltas.path(packDir, "pack"))
	must(t, deltas.refresh(true))
	check(deltas)
	if out := git(t, deltas.Dir(), "", "verify-pack", "-v", deltas.path(packDir, deltas.PackNames()[0]+pack.IndexExt)); !strings.Contains(out, "chain length = 1") {
		t.Errorf("git made no deltas: the test proves nothing")
	}
}
