package scan

import (
	"bytes"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// treeWriter encodes the captured entries of a directory as a tree. A block is sorted by names. A
// tree is sorted as if the names of directories ended in '/'. So a directory waits until no later
// name can begin with its name followed by a byte below '/'.
type treeWriter struct {
	out     []byte
	waiting []index.Record // each name is a prefix of the next one
}

// encode returns the tree of d. The result is valid until the next call.
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

// release appends the waiting directories that sort before name; nil releases all.
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
