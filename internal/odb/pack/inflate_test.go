package pack

import (
	"bytes"
	"errors"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Contents are as long as the header says, neither more nor less.
func TestContentsOfAnotherSize(t *testing.T) {
	t.Parallel()
	d := new(Deflater)
	entry, err := d.Entry(object.Blob, []byte("0123456789"))
	must(t, err)
	for size := int64(0); size < 20; size++ {
		z := NewInflater(bytes.NewReader(entry), 0, int64(len(entry)))
		_, err := z.Entry(HeadSize)
		must(t, err)
		content, err := z.Contents(size)
		if size == 10 && (err != nil || string(content) != "0123456789") || size != 10 && !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d bytes: %q, %v", size, content, err)
		}
		z.Release()
	}
}
