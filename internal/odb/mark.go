package odb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// marker finds out what is reachable. Marks are only ever added: objects that
// become unreachable while it is at work are kept this time.
type marker struct {
	db *DB
	*census
	live, walked bitset
	later        map[object.ID]bool // objects that have come since the census; true if walked
	marked       int                // in the census
	stack        []object.ID        // commits, trees and tags to be walked
	cut          map[object.ID]bool // commits whose parents do not count
	ended        []object.ID        // those of them that have been walked

	recent  []int       // slots that were marked since somebody emptied it
	hints   *hints      // nil if nobody wants them
	lost    func(Fault) // told once for each object
	blocked error       // why there may be more that is reachable
}

func newMarker(db *DB, c *census) *marker {
	return &marker{
		db: db, census: c, live: newBitset(len(c.ids)), walked: newBitset(len(c.ids)),
		later: make(map[object.ID]bool), lost: func(Fault) {},
	}
}

// mark marks an object and reports whether that is news.
func (m *marker) mark(id object.ID) bool {
	slot, ok := m.slot(id)
	if !ok {
		if _, known := m.later[id]; known {
			return false
		}
		m.later[id] = false
		return true
	}
	if !m.live.set(slot) {
		return false
	}
	m.marked++
	if m.hints != nil {
		m.hints.order = append(m.hints.order, uint32(slot))
	}
	m.recent = append(m.recent, slot)
	return true
}

// enter marks an object as walked and reports whether that is news. Being marked as
// somebody's blob does not count as having been walked.
func (m *marker) enter(id object.ID) bool {
	m.mark(id)
	if slot, ok := m.slot(id); ok {
		return m.walked.set(slot)
	}
	known := m.later[id]
	m.later[id] = true
	return !known
}

// push marks an object and sees to it that everything below it will be.
func (m *marker) push(id object.ID) {
	if m.enter(id) {
		m.stack = append(m.stack, id)
	}
}

// isWalked reports whether nothing new can come of an object.
func (m *marker) isWalked(id object.ID) bool {
	if slot, ok := m.slot(id); ok {
		return m.walked.has(slot)
	}
	return m.later[id]
}

// blob marks an object that leads to nothing.
func (m *marker) blob(id object.ID) {
	if !m.mark(id) {
		return
	}
	if _, ok := m.slot(id); ok {
		return
	}
	if ok, err := m.db.Has(id); err != nil || !ok {
		if err == nil {
			err = fmt.Errorf("object %s: %w", id, ErrNotFound)
		}
		m.lost(Fault{Kind: FaultMissing, ID: id, Err: err})
	}
}

// root marks an object of unknown kind. One that is absent counts as lost if needed
// is set.
func (m *marker) root(id object.ID, needed bool, what string) {
	if m.isWalked(id) {
		return
	}
	kind, _, err := m.db.Stat(id)
	switch {
	case err == nil && kind == object.Blob:
		m.enter(id)
	case err == nil:
		m.push(id)
	case needed || !errors.Is(err, ErrNotFound):
		m.enter(id)
		m.lose(id, fmt.Errorf("%s: %w", what, err))
	}
}

// lose records an object that cannot be read, and with it what it leads to.
func (m *marker) lose(id object.ID, err error) {
	kind := FaultObject
	if errors.Is(err, ErrNotFound) {
		kind = FaultMissing
	}
	m.lost(Fault{Kind: kind, ID: id, Err: err})
	m.block(fmt.Errorf("what is needed cannot be told: %w", err))
}

func (m *marker) block(err error) {
	if m.blocked == nil {
		m.blocked = err
	}
}

// walkStep is how many objects are walked between two looks at who waits.
const walkStep = 64

// run walks until everything is marked, or stop says so, or ctx ends.
func (m *marker) run(ctx context.Context, stop func() bool) error {
	for n := 1; len(m.stack) > 0; n++ {
		if n%walkStep == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if stop != nil && stop() {
				return nil
			}
		}
		id := m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		m.walk(id)
	}
	return nil
}

func (m *marker) walk(id object.ID) {
	kind, content, err := m.db.Read(id)
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

// walkCommit takes only as much of a commit for granted as it needs: what it makes
// no sense of otherwise is for others to judge.
func (m *marker) walkCommit(id object.ID, content []byte) error {
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

func (m *marker) walkTag(content []byte) error {
	id, _, ok := cutLink(content, "object ")
	if !ok {
		return pack.Corrupt("tag without an object")
	}
	m.root(id, true, "tagged object")
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

// walkTree marks the entries of a tree. Nested repositories are no part of it.
func (m *marker) walkTree(content []byte) error {
	for len(content) > 0 {
		mode, rest, blank := bytes.Cut(content, []byte{' '})
		name, rest, nul := bytes.Cut(rest, []byte{0})
		if !blank || !nul || len(rest) < idSize {
			return pack.Corrupt("truncated tree")
		}
		id := object.ID(rest[:idSize])
		content = rest[idSize:]
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

// setCut takes over where lines are cut off by now. What was cut off and is not any
// longer is walked once more.
func (m *marker) setCut(more []object.ID) {
	ids, err := m.db.Shallow()
	if err != nil {
		m.block(fmt.Errorf("what is needed cannot be told: %w", err))
		return
	}
	m.cut = make(map[object.ID]bool, len(ids)+len(more))
	for _, id := range append(ids, more...) {
		m.cut[id] = true
	}
	m.ended = slices.DeleteFunc(m.ended, func(id object.ID) bool {
		if !m.cut[id] {
			m.stack = append(m.stack, id)
		}
		return !m.cut[id]
	})
}

// markRoots marks what the store keeps of itself: what refs, HEAD and journals name.
// It returns how many names there were.
func (m *marker) markRoots(without func(string) bool) (n int, err error) {
	refs, err := m.db.Refs("")
	if err != nil {
		return 0, err
	}
	if id, err := m.db.Ref("HEAD"); !errors.Is(err, ErrNotFound) {
		refs = append(refs, Ref{"HEAD", id, err})
	}
	for _, r := range refs {
		switch {
		case without != nil && without(r.Name):
			continue
		case r.Err != nil:
			m.block(fmt.Errorf("what is needed cannot be told: ref %s: %w", r.Name, r.Err))
		default:
			m.root(r.ID, true, "ref "+r.Name)
		}
		n++
	}
	named, err := m.db.journalIDs()
	for _, id := range named {
		m.root(id, false, "journal")
		n++
	}
	return n, err
}

// journalIDs returns every id that a journal names, be it torn or not: everything
// in it that looks like one.
func (db *DB) journalIDs() ([]object.ID, error) {
	names, err := readNames(db.path(journalDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list journals: %w", err)
	}
	var ids []object.ID
	for _, name := range names {
		data, err := atomicfile.Read(db.path(journalDir, name))
		if err != nil && !isNoFile(err) && !errors.Is(err, atomicfile.ErrNotRegular) {
			return nil, err
		}
		ids = appendNamed(ids, data)
	}
	return ids, nil
}

// appendNamed appends the runs of exactly 40 hexadecimal digits.
func appendNamed(ids []object.ID, text []byte) []object.ID {
	isDigit := func(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }
	for i := 0; i < len(text); i++ {
		start := i
		for i < len(text) && isDigit(text[i]) {
			i++
		}
		if i-start == 2*idSize {
			if id, err := object.ParseID(string(text[start:i])); err == nil {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// hints says which objects of the census may resemble each other: those that had the
// same name in a tree, and of these the ones that were marked one after the other. A line is walked
// along its commits, so versions of a directory or a file are neighbours.
type hints struct {
	numbers map[string]uint32
	names   []string
	of      []uint32 // by slot; 0 = none
	order   []uint32 // slots as they were marked
}

func newHints(n int) *hints {
	return &hints{numbers: make(map[string]uint32), names: []string{""}, of: make([]uint32, n)}
}

func (m *marker) hint(id object.ID, name []byte) {
	if m.hints == nil {
		return
	}
	slot, ok := m.slot(id)
	if !ok || m.hints.of[slot] != 0 {
		return
	}
	n, ok := m.hints.numbers[string(name)]
	if !ok {
		n = uint32(len(m.hints.names))
		m.hints.names = append(m.hints.names, string(name))
		m.hints.numbers[string(name)] = n
	}
	m.hints.of[slot] = n
}
