package history

import (
	"cmp"
	"container/heap"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// inOrder merges the lines that were collected. A checkpoint comes after its parent.
func (c *moments) inOrder() ([]Moment, error) {
	o := &ordering{moments: c, children: make(map[object.ID][]*Moment)}
	for _, m := range c.all {
		parent := c.by[m.Parent]
		m.Same = m.Same && parent != nil && parent.Tree == m.Tree
		if parent == nil {
			heap.Push(&o.later, timed{m, m.at})
		} else {
			o.children[m.Parent] = append(o.children[m.Parent], m)
		}
	}
	out := make([]Moment, 0, len(c.all))
	for len(o.later) > 0 || len(o.group) > 0 {
		m, err := o.next()
		if err != nil {
			return nil, err
		}
		out = append(out, *m)
	}
	return out, nil
}

// ordering puts checkpoints in order. group are those of the present second whose parents have
// their places.
type ordering struct {
	*moments
	children map[object.ID][]*Moment
	later    timeHeap
	group    []timed
	second   int64
	tree     object.ID // of the disk
}

// timed is a checkpoint with its time, which is not before that of its parent.
type timed struct {
	*Moment
	at int64
}

func (o *ordering) next() (*Moment, error) {
	if len(o.group) == 0 {
		o.second = o.later[0].at / int64(time.Second)
	}
	for len(o.later) > 0 && o.later[0].at/int64(time.Second) <= o.second {
		o.group = append(o.group, heap.Pop(&o.later).(timed))
	}
	i, err := o.choose()
	if err != nil {
		return nil, err
	}
	m := o.group[i]
	o.group = append(o.group[:i], o.group[i+1:]...)
	for _, child := range o.children[m.ID] {
		heap.Push(&o.later, timed{child, max(child.at, m.at)})
	}
	if !m.Same {
		o.tree = m.Tree
	}
	return m.Moment, nil
}

// choose returns the index of the next checkpoint in the group. Those with exact times keep their
// order. One without comes first where its content says so.
func (o *ordering) choose() (int, error) {
	exact := -1
	var inexact []int
	for i, m := range o.group {
		switch {
		case !m.exact:
			inexact = append(inexact, i)
		case exact < 0 || m.at < o.group[exact].at:
			exact = i
		}
	}
	if len(inexact) == 0 || exact >= 0 && o.group[exact].Tree == o.tree {
		return exact, nil
	}
	best := inexact[0]
	for _, i := range inexact {
		if cmp.Less(o.distance(i), o.distance(best)) {
			best = i
		}
	}
	if exact < 0 || o.distance(best) < o.distance(exact) {
		return best, nil
	}
	near, err := o.changes(best)
	if err != nil {
		return 0, err
	}
	far, err := o.changes(exact)
	if o.distance(exact) < o.distance(best) || far < near {
		return exact, err
	}
	return best, err
}

// distance says how a checkpoint follows from the disk: 0 it has its state, 1 its parent has, 2 else.
func (o *ordering) distance(i int) int {
	m := o.group[i]
	parent := o.by[m.Parent]
	switch {
	case m.Tree == o.tree:
		return 0
	case parent != nil && parent.Tree == o.tree:
		return 1
	}
	return 2
}

// manyChanges bounds the comparison of two candidates.
const manyChanges = 100

// changes counts the paths in which a checkpoint differs from the disk.
func (o *ordering) changes(i int) (n int, err error) {
	for _, err := range o.repo.CompareTrees(o.ctx, o.tree, o.group[i].Tree, nil) {
		if n++; err != nil || n == manyChanges {
			return n, err
		}
	}
	return n, nil
}

// timeHeap is a heap by time, the oldest first.
type timeHeap []timed

func (q timeHeap) Len() int { return len(q) }

func (q timeHeap) Less(i, j int) bool { return q[i].at < q[j].at }

func (q timeHeap) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *timeHeap) Push(x any) { *q = append(*q, x.(timed)) }

func (q *timeHeap) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
