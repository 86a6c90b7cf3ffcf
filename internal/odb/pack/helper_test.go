package pack

import (
	"fmt"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// writePack makes a pack of blobs in dir.
func writePack(t testing.TB, dir string, blobs ...string) *Pack {
	t.Helper()
	w := NewWriter(dir)
	defer w.Discard()
	for _, content := range blobs {
		must(t, w.AddContent(blobID(content), object.Blob, []byte(content)))
	}
	s, err := w.Seal()
	must(t, err)
	defer s.Discard()
	p, err := s.Place(dir)
	must(t, err)
	return p
}

// blobPack makes a pack of n numbered blobs, and returns their ids.
func blobPack(t testing.TB, dir, name string, from, n int) (*Pack, []object.ID) {
	t.Helper()
	var blobs []string
	var ids []object.ID
	for i := from; i < from+n; i++ {
		blobs = append(blobs, fmt.Sprint(name, " ", i))
		ids = append(ids, blobID(blobs[len(blobs)-1]))
	}
	return writePack(t, dir, blobs...), ids
}

func blobID(text string) object.ID { return object.Sum(object.Blob, []byte(text)) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var noise, prose = gittest.Noise, gittest.Prose
