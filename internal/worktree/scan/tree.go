package scan

import (
	"bytes"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// treeWriter encodes what is captured in a directory as a tree. A block is sorted by
// names, a tree as if the names of directories ended in '/'; so a directory waits until
// no name can come that begins with its own and goes on with less than that.
type treeWriter struct {
	out     []byte
	waiting []index.Record // each one's name begins with that of the one before
}

// encode returns the tree of d, which is valid until the writer is used again.
func (t *treeWriter) encode(d *index.Dir) []byte {
	t.out, t.waiting = t.out[:0], t.waiting[:0]
	for rec := range d.All {
		if rec.Skip() != index.Captured || rec.ID().IsZero() {
			continue
		}
		t.release(rec.Name())
		if rec.Mode() == object.Dir {
			t.waiting = append(t.waiting, rec)
		} else {
			t.append(rec)
		}
	}
	t.release(nil)
	return t.out
}

// release appends the directories that come before name, or all.
func (t *treeWriter) release(name []byte) {
	for n := len(t.waiting) - 1; n >= 0; n-- {
		last := t.waiting[n].Name()
		if len(name) > len(last) && bytes.HasPrefix(name, last) && name[len(last)] < '/' {
			return
		}
		t.append(t.waiting[n])
		t.waiting = t.waiting[:n]
	}
}

func (t *treeWriter) append(rec index.Record) {
	t.out = object.AppendEntry(t.out, rec.Mode(), rec.Name(), rec.ID())
}
