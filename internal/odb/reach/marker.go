package reach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// Store is the store that a Marker reads. Its errors are pack.ErrNotFound for an object that
// is absent.
type Store interface {
	Has(id object.ID) (bool, error)
	Stat(id object.ID) (kind object.Kind, size int64, err error)
	Read(id object.ID) (kind object.Kind, content []byte, err error)
}

// Loss is an object that is needed and cannot be read.
type Loss struct {
	ID      object.ID
	Missing bool // it is not there, as far as the store can tell
	Err     error
}

// Marker marks the objects that are reachable.
type Marker struct {
	*Census
	Marked int        // number of marked objects of the census
	Recent []int      // slots that were marked since the caller last set it to nil
	Lost   func(Loss) // called once for each object
	Tell   func()     // called at intervals while Run works; nil = never

	store        Store
	live, walked Bitset
	later        map[object.ID]bool // objects that came after the census; true if walked
	stack        []object.ID        // commits, trees and tags to be walked
	cut          map[object.ID]bool // commits whose parents do not count
	ended        []object.ID        // the commits of cut that were walked
	hints        *hints             // nil without RecordHints
	blocked      error              // why an unmarked object may be reachable
}

// NewMarker returns a marker without marks.
func NewMarker(s Store, c *Census) *Marker {
	return &Marker{
		store: s, Census: c, live: NewBitset(len(c.IDs)), walked: NewBitset(len(c.IDs)),
		later: make(map[object.ID]bool), Lost: func(Loss) {},
	}
}

// Live reports whether the object at a slot of the census is marked.
func (m *Marker) Live(slot int) bool { return m.live.Has(slot) }

// Done reports whether everything that the roots so far lead to is marked.
func (m *Marker) Done() bool { return len(m.stack) == 0 }

// Blocked returns why an unmarked object may be reachable; nil if none is.
func (m *Marker) Blocked() error { return m.blocked }

// mark marks an object and reports whether it was unmarked.
func (m *Marker) mark(id object.ID) bool {
	slot, ok := m.Slot(id)
	if !ok {
		if _, known := m.later[id]; known {
			return false
		}
		m.later[id] = false
		return true
	}
	if !m.live.Set(slot) {
		return false
	}
	m.Marked++
	if m.hints != nil {
		m.hints.order = append(m.hints.order, uint32(slot))
	}
	m.Recent = append(m.Recent, slot)
	return true
}

// enter marks an object as walked and reports whether it was not before. An object that is
// marked as a blob of a tree does not count as walked.
func (m *Marker) enter(id object.ID) bool {
	m.mark(id)
	if slot, ok := m.Slot(id); ok {
		return m.walked.Set(slot)
	}
	known := m.later[id]
	m.later[id] = true
	return !known
}

// push marks an object and has everything below it marked by Run.
func (m *Marker) push(id object.ID) {
	if m.enter(id) {
		m.stack = append(m.stack, id)
	}
}

// isWalked reports whether everything below an object is marked or on the stack.
func (m *Marker) isWalked(id object.ID) bool {
	if slot, ok := m.Slot(id); ok {
		return m.walked.Has(slot)
	}
	return m.later[id]
}

// blob marks an entry of a tree that leads to nothing.
func (m *Marker) blob(id object.ID) {
	if !m.mark(id) {
		return
	}
	if _, ok := m.Slot(id); ok {
		return
	}
	if ok, err := m.store.Has(id); err != nil || !ok {
		if err == nil {
			err = fmt.Errorf("object %s: %w", id, pack.ErrNotFound)
		}
		m.Lost(Loss{ID: id, Missing: true, Err: err})
	}
}

// Root marks an object of unknown kind. An absent object counts as lost if
// needed is set. The error of a lost object begins with what.
func (m *Marker) Root(id object.ID, needed bool, what string) {
	if m.isWalked(id) {
		return
	}
	kind, _, err := m.store.Stat(id)
	switch {
	case err == nil && kind == object.Blob:
		m.enter(id)
	case err == nil:
		m.push(id)
	case needed || !errors.Is(err, pack.ErrNotFound):
		m.enter(id)
		m.lose(id, fmt.Errorf("%s: %w", what, err))
	}
}

// lose reports an object that cannot be read. Where it leads is unknown, which blocks.
func (m *Marker) lose(id object.ID, err error) {
	m.Lost(Loss{ID: id, Missing: errors.Is(err, pack.ErrNotFound), Err: err})
	m.Block(fmt.Errorf("what is needed cannot be told: %w", err))
}

// Block states that an unmarked object may be reachable. The first reason stays.
func (m *Marker) Block(err error) {
	if m.blocked == nil {
		m.blocked = err
	}
}

// walkStep is how many objects are walked between two looks at ctx and stop.
const walkStep = 64

// Run walks until everything is marked, or stop returns true, or ctx ends.
func (m *Marker) Run(ctx context.Context, stop func() bool) error {
	for n := 1; len(m.stack) > 0; n++ {
		if n%walkStep == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if stop != nil && stop() {
				return nil
			}
			if m.Tell != nil {
				m.Tell()
			}
		}
		id := m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		m.walk(id)
	}
	return nil
}

func (m *Marker) walk(id object.ID) {
	kind, content, err := m.store.Read(id)
	if err == nil {
		switch kind {
		case object.Commit:
			err = m.walkCommit(id, content)
		case object.Tree:
			err = m.walkTree(content)
		case object.Tag:
			err = m.walkTag(content)
		}
		if err != nil {
			err = fmt.Errorf("%s %s: %w", kind, id, err)
		}
	}
	if err != nil {
		m.lose(id, err)
	}
}

// walkCommit reads the tree and the parents of a commit. It does not judge the rest.
func (m *Marker) walkCommit(id object.ID, content []byte) error {
	tree, rest, ok := cutLink(content, "tree ")
	if !ok {
		return pack.Corrupt("commit without a tree")
	}
	m.push(tree)
	if m.cut[id] {
		m.ended = append(m.ended, id)
		return nil
	}
	for {
		var parent object.ID
		if parent, rest, ok = cutLink(rest, "parent "); !ok {
			break
		}
		m.push(parent)
	}
	if bytes.HasPrefix(rest, []byte("parent ")) {
		return pack.Corrupt("commit with a malformed parent")
	}
	return nil
}

func (m *Marker) walkTag(content []byte) error {
	id, _, ok := cutLink(content, "object ")
	if !ok {
		return pack.Corrupt("tag without an object")
	}
	m.Root(id, true, "tagged object")
	return nil
}

// cutLink splits off a first line that consists of a key and an id.
func cutLink(content []byte, key string) (id object.ID, rest []byte, ok bool) {
	line, after, found := bytes.Cut(content, []byte{'\n'})
	digits, has := bytes.CutPrefix(line, []byte(key))
	if !found || !has {
		return id, content, false
	}
	id, err := object.ParseID(string(digits))
	return id, after, err == nil
}

// walkTree marks the entries of a tree. A nested repository is not in the store.
func (m *Marker) walkTree(content []byte) error {
	for len(content) > 0 {
		mode, rest, blank := bytes.Cut(content, []byte{' '})
		name, rest, nul := bytes.Cut(rest, []byte{0})
		if !blank || !nul || len(rest) < len(object.ID{}) {
			return pack.Corrupt("truncated tree")
		}
		id := object.ID(rest[:len(object.ID{})])
		content = rest[len(object.ID{}):]
		m.hint(id, name)
		switch string(mode) {
		case "40000", "040000":
			m.push(id)
		case "160000":
		default:
			m.blob(id)
		}
	}
	return nil
}

// SetCut states the commits at which lines are cut off now. A commit that was cut off
// before and is not any longer is walked once more.
func (m *Marker) SetCut(ids []object.ID) {
	m.cut = make(map[object.ID]bool, len(ids))
	for _, id := range ids {
		m.cut[id] = true
	}
	m.ended = slices.DeleteFunc(m.ended, func(id object.ID) bool {
		if !m.cut[id] {
			m.stack = append(m.stack, id)
		}
		return !m.cut[id]
	})
}
