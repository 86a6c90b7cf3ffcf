package pack

import (
	"container/list"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// baseCacheBytes bounds the contents kept as bases of deltas. Only repacked stores have
// deltas. Without a cache, reading all objects of a chain of 50 takes 50 times 50 steps.
const baseCacheBytes = 16 << 20

// baseCache keeps the bases of deltas that were used last. The zero value is ready.
type baseCache struct {
	mu    sync.Mutex
	items map[place]*list.Element
	order list.List // of *base, the last used first
	bytes int
}

type base struct {
	at      place
	kind    object.Kind
	content []byte // never changed
}

func (c *baseCache) get(at place) (object.Kind, []byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.items[at]
	if e == nil {
		return 0, nil, false
	}
	c.order.MoveToFront(e)
	b := e.Value.(*base)
	return b.kind, b.content, true
}

func (c *baseCache) put(at place, k object.Kind, content []byte) {
	if len(content) > baseCacheBytes/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.items[at] != nil {
		return
	}
	if c.items == nil {
		c.items = make(map[place]*list.Element)
	}
	c.items[at] = c.order.PushFront(&base{at, k, content})
	c.bytes += len(content)
	for c.bytes > baseCacheBytes {
		e := c.order.Back()
		b := c.order.Remove(e).(*base)
		c.bytes -= len(b.content)
		delete(c.items, b.at)
	}
}
