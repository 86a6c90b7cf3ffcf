package pack

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
	dir := t.TempDir()
	fill := func(seed uint64) (w *Writer, ids []object.ID) {
		w = NewWriter(dir)
		w.WriteBehind()
		for i := range uint64(writeBehindAt/(1<<20) + 2*SpillAt/(1<<20)) {
			content := noise(seed+i, 1<<20)
			ids = append(ids, object.Sum(object.Blob, content))
			must(t, w.AddContent(ids[i], object.Blob, content))
		}
		if w.behind.from < writeBehindAt {
			t.Error("nothing was written behind: the test proves nothing")
		}
		return w, ids
	}
	w, _ := fill(1000)
	w.Discard()
	w, ids := fill(1)
	s, err := w.Seal()
	must(t, err)
	w.Discard()
	p, err := s.Place(dir)
	must(t, err)
	defer p.Close()
	var b Bases
	for i, id := range ids {
		off, ok, err := p.Find(id)
		if !ok || err != nil || ReadThrough(b.At(p, off), id) != nil {
			t.Errorf("object %d: %v", i, err)
		}
	}
	if names := must1(os.ReadDir(dir)); len(names) != 2 {
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
