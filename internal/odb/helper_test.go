package odb

import (
	"fmt"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// writePack makes a pack of blobs in dir.
func writePack(t testing.TB, dir string, blobs ...string) *pack {
	t.Helper()
	w := newPackWriter(dir)
	defer w.discard()
	for _, content := range blobs {
		must(t, w.AddContent(blobID(content), object.Blob, []byte(content)))
	}
	s, err := w.seal()
	must(t, err)
	defer s.discard()
	p, err := s.Place(dir)
	must(t, err)
	return p
}

// blobPack makes a pack of n numbered blobs, and returns their ids.
func blobPack(t testing.TB, dir, name string, from, n int) (*pack, []object.ID) {
	t.Helper()
	var blobs []string
	var ids []object.ID
	for i := from; i < from+n; i++ {
		blobs = append(blobs, fmt.Sprint(name, " ", i))
		ids = append(ids, blobID(blobs[len(blobs)-1]))
	}
	return writePack(t, dir, blobs...), ids
}
