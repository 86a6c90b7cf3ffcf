package pack

import (
	"bytes"
	"os"
	"testing"
)

// A large index that is searched often is read into memory, and finds the same there. One that is
// damaged is not: its file is searched as before.
func TestBusyIndexIsKept(t *testing.T) {
	t.Parallel()
	for _, damaged := range []bool{false, true} {
		dir := t.TempDir()
		made, ids := blobPack(t, dir, "blob", 0, 6000)
		if damaged {
			data, err := os.ReadFile(made.Stem + IndexExt)
			must(t, err)
			data[len(data)-1] ^= 1
			must(t, os.Remove(made.Stem+IndexExt))
			must(t, os.WriteFile(made.Stem+IndexExt, data, 0o600))
		}
		p := New(dir, made.Name())
		defer p.Close()
		x, err := p.Index()
		must(t, err)
		if x.data != nil || x.size <= idxInMemory {
			t.Fatalf("an index of %d bytes is in memory at once", x.size)
		}
		places := make(map[int]int64)
		for round := range 2 {
			for i, id := range ids {
				off, ok, err := p.Find(id)
				if err != nil || !ok || round > 0 && places[i] != off {
					t.Fatalf("object %d is at %d, %v, %v; was at %d", i, off, ok, err, places[i])
				}
				places[i] = off
			}
		}
		if _, ok, err := p.Find(blobID("none")); ok || err != nil {
			t.Errorf("found what is not there: %v", err)
		}
		if kept := p.idx.Load().data; (kept == nil) != damaged || !damaged && !bytes.HasPrefix(kept, idxMagic[:]) {
			t.Errorf("damaged %v: %d bytes are in memory", damaged, len(kept))
		}
	}
}
