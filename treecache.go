package cairn

import (
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// maxCachedEntries bounds a generation of a treeCache: two of them take up some 4 MB,
// and hold the trees on the way to several hundred paths.
const maxCachedEntries = 16 << 10

// treeCache keeps the trees that were read last, because going back asks for the same
// ones several times: to compare, for what stands at single paths, for the directories
// and the rules of both ends. They have been verified, and never change. What has not
// been asked for while a generation filled up is forgotten. The zero value is ready.
type treeCache struct {
	mu         sync.Mutex
	young, old map[object.ID][]object.Entry
	entries    int // in young
}

// get returns the entries of a tree, which must not be changed.
func (c *treeCache) get(id object.ID) ([]object.Entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entries, ok := c.young[id]; ok {
		return entries, true
	}
	entries, ok := c.old[id]
	if ok {
		c.put(id, entries)
	}
	return entries, ok
}

func (c *treeCache) add(id object.ID, entries []object.Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(id, entries)
}

// put is called with the mutex.
func (c *treeCache) put(id object.ID, entries []object.Entry) {
	if len(entries) > maxCachedEntries/4 {
		return
	}
	if c.entries += len(entries) + 1; c.young == nil || c.entries > maxCachedEntries {
		c.young, c.old = make(map[object.ID][]object.Entry), c.young
		c.entries = len(entries) + 1
	}
	c.young[id] = entries
}
