package history

import (
	"slices"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// maxCachedEntries is the number of entries in a generation of a treeCache. Two generations take
// about 4 MB and hold the trees on the way to several hundred paths.
const maxCachedEntries = 16 << 10

// A tree with more than largeTree entries would displace most of a generation. The last
// maxLargeTrees of such trees are kept beside the generations. That is enough for one directory at
// each end of a few steps, at several depths.
const (
	largeTree     = maxCachedEntries / 4
	maxLargeTrees = 16
)

// treeCache caches recently read trees in two generations. Going back reads the same trees several
// times: to compare, for single paths, for directories and for ignore rules. Without the cache,
// each path would cost a read of its whole directory. The trees are verified and never change. A
// tree that is not read while a generation fills up is dropped. The zero value is ready.
type treeCache struct {
	mu         sync.Mutex
	young, old map[object.ID][]object.Entry
	entries    int         // in young
	large      []largeRead // most recent first
	reads      int         // trees that were read from the store
}

type largeRead struct {
	id      object.ID
	entries []object.Entry
}

// Get returns the entries of a tree. The caller must not change them.
func (c *treeCache) Get(id object.ID) ([]object.Entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entries, ok := c.young[id]; ok {
		return entries, true
	}
	if entries, ok := c.old[id]; ok {
		c.put(id, entries)
		return entries, true
	}
	for i, l := range c.large {
		if l.id == id {
			copy(c.large[1:], c.large[:i])
			c.large[0] = l
			return l.entries, true
		}
	}
	return nil, false
}

// add caches a tree that was just read.
func (c *treeCache) add(id object.ID, entries []object.Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	if len(entries) <= largeTree {
		c.put(id, entries)
		return
	}
	if len(c.large) == maxLargeTrees {
		c.large = c.large[:maxLargeTrees-1]
	}
	c.large = slices.Insert(c.large, 0, largeRead{id, entries})
}

// put adds a tree to the young generation. The caller holds the mutex.
func (c *treeCache) put(id object.ID, entries []object.Entry) {
	if c.entries += len(entries) + 1; c.young == nil || c.entries > maxCachedEntries {
		c.young, c.old = make(map[object.ID][]object.Entry), c.young
		c.entries = len(entries) + 1
	}
	c.young[id] = entries
}

// DropLarge frees the large trees at the end of an operation, so that a long-lived process does not
// keep their memory.
func (c *treeCache) DropLarge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.large = nil
}
