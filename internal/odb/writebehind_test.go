package odb

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// A pack that the system has begun to write is what it is otherwise, and one that is
// given up leaves nothing behind.
func TestWriteBehind(t *testing.T) {
	t.Parallel()
	db, err := Create(filepath.Join(t.TempDir(), "store"), testRoot, Options{})
	must(t, err)
	t.Cleanup(func() { db.Close() })
	fill := func(seed uint64) (b *Batch, ids []object.ID) {
		b = db.NewBatch()
		for i := range uint64(writeBehindAt/(1<<20) + 2*spillAt/(1<<20)) {
			ids = append(ids, must1(b.Add(object.Blob, noise(seed+i, 1<<20))))
		}
		if b.w.behind == nil || b.w.behind.from < writeBehindAt {
			t.Error("nothing was written behind: the test proves nothing")
		}
		return b, ids
	}
	b, _ := fill(1000)
	b.Discard()
	b, ids := fill(1)
	must(t, b.Commit())
	for i, id := range ids {
		if _, data, err := db.Read(id); err != nil || object.Sum(object.Blob, data) != id {
			t.Errorf("object %d: %v", i, err)
		}
	}
	if names := must1(os.ReadDir(db.path(packDir))); len(names) != 2 {
		t.Errorf("%d files among the packs, want a pack and its index", len(names))
	}
}

// What has no file, or is closed, is no matter.
func TestWriteBehindIsAHint(t *testing.T) {
	t.Parallel()
	var none *writeBehind
	none.grown(nil, 1<<40, 1)
	none.end()
	f := must1(os.Create(filepath.Join(t.TempDir(), "f")))
	must(t, f.Close())
	var b writeBehind
	b.grown(f, writeBehindAt, writeBehindAt)
	b.end()
}
