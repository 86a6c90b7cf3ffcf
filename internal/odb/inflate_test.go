package odb

import (
	"bytes"
	"errors"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Contents are as long as the header says, neither more nor less.
func TestContentsOfAnotherSize(t *testing.T) {
	t.Parallel()
	d := new(deflater)
	entry, err := d.entry(object.Blob, []byte("0123456789"))
	must(t, err)
	for size := int64(0); size < 20; size++ {
		z := newInflater(bytes.NewReader(entry), 0, int64(len(entry)))
		_, err := z.entry(packHead)
		must(t, err)
		content, err := z.contents(size)
		if size == 10 && (err != nil || string(content) != "0123456789") || size != 10 && !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d bytes: %q, %v", size, content, err)
		}
		z.release()
	}
}
