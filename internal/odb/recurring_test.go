package odb

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// TestAddRecurring: contents with a part that comes again, that changes, that is all of
// it, or that does not shrink, are what git reads, too.
func TestAddRecurring(t *testing.T) {
	t.Parallel()
	db := newLogged(t)
	listing := bytes.Repeat([]byte("some/directory, "), 1000)
	var want [][]byte
	for i := range 12 {
		middle := listing
		switch i % 4 {
		case 1:
			middle = append([]byte("another, "), listing...)
		case 2:
			middle = noise(uint64(i), worthKeeping+i)
		}
		head, tail := fmt.Appendf(nil, "before %d\n", i), fmt.Appendf(nil, "\nafter %d", i)
		if i%3 == 2 {
			head, tail = nil, nil
		}
		content := bytes.Join([][]byte{head, middle, tail}, nil)
		b := db.NewBatch()
		id, err := b.AddRecurring(object.Blob, content, len(head), len(head)+len(middle))
		must(t, err)
		if id != object.Sum(object.Blob, content) {
			t.Error("another id")
		}
		must(t, b.Commit(RefUpdate{fmt.Sprintf("refs/cairn/%d", i), id}))
		want = append(want, content)
	}
	after := reopen(t, db)
	for _, content := range want {
		wantBlob(t, after, object.Sum(object.Blob, content), string(content))
	}
	fsck(t, after)
}

// TestEncodeAround: whatever the part, the entry inflates to the contents.
func TestEncodeAround(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	d := newDeflater()
	var rec recurring
	for range 300 {
		content := noise(r.Uint64(), r.IntN(20_000))
		if r.IntN(2) == 0 {
			content = bytes.Repeat([]byte("abc"), r.IntN(10_000))
		}
		from := r.IntN(len(content) + 1)
		to := from + r.IntN(len(content)-from+1)
		entry, err := d.encodeAround(object.Blob, content, from, to, &rec)
		must(t, err)
		head := appendEntryHead(nil, object.Blob, int64(len(content)))
		if !bytes.HasPrefix(entry, head) {
			t.Fatal("another head")
		}
		stream, err := zlib.NewReader(bytes.NewReader(entry[len(head):]))
		must(t, err)
		got, err := io.ReadAll(stream)
		if err != nil || !bytes.Equal(got, content) {
			t.Fatalf("%d bytes, cut at %d and %d, became %d, %v", len(content), from, to, len(got), err)
		}
	}
}
