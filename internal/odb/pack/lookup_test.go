package pack

import (
	"math/rand/v2"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// A writer has the ids that were added and no others, however many there are and however their
// first bytes are alike, before and after the index is made, which sorts them.
func TestWriterHas(t *testing.T) {
	t.Parallel()
	for name, number := range map[string]func(i uint64) object.ID{
		"spread": func(i uint64) object.ID { return object.Sum(object.Blob, []byte{byte(i), byte(i >> 8), byte(i >> 16)}) },
		"alike":  func(i uint64) object.ID { return object.ID{17: byte(i >> 16), 18: byte(i >> 8), 19: byte(i)} },
		"at the end": func(i uint64) object.ID {
			return object.ID{0: 0xff, 1: 0xff, 2: 0xff, 3: 0xff - byte(i%3), 18: byte(i >> 8), 19: byte(i)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, added, rnd := NewWriter(t.TempDir()), make(map[object.ID]bool), rand.New(rand.NewPCG(1, 2))
			defer w.Discard()
			for range 2000 {
				id := number(rnd.Uint64N(3000))
				if w.Has(id) != added[id] {
					t.Fatalf("of %d entries: Has(%s) = %v", len(added), id, !added[id])
				}
				if !added[id] {
					added[id] = true
					if err := w.Add(id, 0, []byte{byte(len(added))}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if _, _, _, err := w.EndInMemory(); err != nil {
				t.Fatal(err)
			}
			for i := range uint64(3000) {
				if id := number(i); w.Has(id) != added[id] {
					t.Fatalf("after the end: Has(%s) = %v", id, !added[id])
				}
			}
		})
	}
}

func TestWriterHasNothingAfterDiscard(t *testing.T) {
	t.Parallel()
	w, id := NewWriter(t.TempDir()), object.ID{1}
	if err := w.Add(id, 0, nil); err != nil || !w.Has(id) {
		t.Fatal("the entry is not there", err)
	}
	if w.Discard(); w.Has(id) {
		t.Error("an entry of a dropped pack is still there")
	}
}
