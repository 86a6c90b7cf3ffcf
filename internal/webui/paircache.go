package webui

import "sync"

// pairsKept is the number of pairs of checkpoints that a cache holds.
const pairsKept = 20000

// pairCache caches a value for two states of a project, by their ids. States never change, so it
// is never wrong. When it is full, it is emptied.
type pairCache[V any] struct {
	mu    sync.Mutex
	known map[string]V
}

func newPairCache[V any]() *pairCache[V] { return &pairCache[V]{known: make(map[string]V)} }

// of returns the value of a pair, or computes it. A failure is not remembered.
func (c *pairCache[V]) of(p *Project, from, to string, find func() (V, error)) (V, error) {
	key := p.ID + " " + from + " " + to
	c.mu.Lock()
	known, ok := c.known[key]
	c.mu.Unlock()
	if ok {
		return known, nil
	}
	fresh, err := find()
	if err != nil {
		return fresh, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= pairsKept {
		clear(c.known)
	}
	c.known[key] = fresh
	return fresh, nil
}
