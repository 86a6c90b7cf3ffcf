package odb

import (
	"bytes"
	"sync"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// A pack is written in pieces while other goroutines add objects that fill less than a piece,
// exactly one, more than one, and one that streams, in any order.
func TestPackInPieces(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	needGit(t)
	db := newStore(t)
	b := db.NewBatch()
	defer b.Discard()
	sizes := []int{1, 100_000, pack.SpillAt / 2, pack.SpillAt - 300, pack.SpillAt, pack.SpillAt + 1, 2 * pack.SpillAt, pack.StreamAbove + 1}
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	contents := make([][]byte, rounds*len(sizes))
	var wg sync.WaitGroup
	for i := range contents {
		contents[i] = noise(uint64(i), sizes[i%len(sizes)])
		wg.Go(func() {
			if _, err := b.AddBlob(bytes.NewReader(contents[i]), int64(len(contents[i]))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	must(t, b.Commit())
	for _, content := range contents {
		if _, data, err := db.Read(object.Sum(object.Blob, content)); err != nil || !bytes.Equal(data, content) {
			t.Errorf("%d bytes come back as %d, %v", len(content), len(data), err)
		}
	}
	fsck(t, db)
}
