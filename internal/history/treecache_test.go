package history

import (
	"encoding/binary"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

func TestTreeCacheIsBounded(t *testing.T) {
	t.Parallel()
	id := func(n int) (id object.ID) {
		binary.BigEndian.PutUint64(id[:], uint64(n))
		return id
	}
	var c treeCache
	for n := range 10 * maxCachedEntries {
		c.add(id(n), make([]object.Entry, n%100))
		if entries, ok := c.Get(id(0)); !ok || len(entries) != 0 { // always asked for
			t.Fatalf("%d: forgotten", n)
		}
		if entries, ok := c.Get(id(n)); !ok || len(entries) != n%100 {
			t.Fatalf("%d: %d entries, %t", n, len(entries), ok)
		}
	}
	kept := 0
	for _, generation := range []map[object.ID][]object.Entry{c.young, c.old} {
		for _, entries := range generation {
			kept += len(entries) + 1
		}
	}
	if kept > 2*maxCachedEntries {
		t.Errorf("%d entries are kept", kept)
	}
	if _, ok := c.Get(id(1)); ok {
		t.Error("a tree that nobody has asked for is kept")
	}
	for n := range 2 * maxLargeTrees {
		c.add(id(-1-n), make([]object.Entry, maxCachedEntries))
		if _, ok := c.Get(id(-1)); !ok { // always asked for
			t.Fatalf("large tree forgotten after %d others", n)
		}
	}
	if len(c.large) != maxLargeTrees {
		t.Errorf("%d large trees are kept", len(c.large))
	}
	if c.DropLarge(); len(c.large) != 0 {
		t.Error("large trees outlive their operation")
	}
}
