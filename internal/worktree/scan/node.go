package scan

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed-fb9cbc17/cairn/internal/ignore"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// node is a directory in the scan. Its handle stays open until everything below it is done:
// children are opened and rules are read through it. The last child to finish completes the parent,
// so trees are built bottom up without a second pass.
type node struct {
	parent *node
	path   string
	room   []byte       // of path, for the first directory in it; see index.Extend
	name   string       // its name in parent
	slot   int          // where its entry begins in the block of parent
	entry  index.Record // the old entry of this directory, if it is used
	prev   *index.Dir
	handle *dir.Handle
	at     dir.HandleInfo
	dir    *index.Dir // the result

	block     []byte // the entries, as index encodes them
	shared    bool   // the entries are those of prev, not of block
	empty     bool
	wasEmpty  bool         // empty in the last scan
	trusted   bool         // scanned for paths that the last scan captured, whatever the rules say
	whole     bool         // scan everything in it, not only hinted names
	unread    bool         // not scanned: the last scan's entries stay
	absent    bool         // not readable as a directory; the parent has another entry for it
	gitignore bool         // has a .gitignore
	names     []string     // the only names to scan; nil = all
	listed    bool         // the names were listed
	lent      Lent         // from Walk.Lender; nil until the first call
	pending   atomic.Int32 // children in progress, and one for the directory itself

	mu       sync.Mutex           // guards the fields that children write: block, shared, override and leaky
	override map[int]*index.Entry // by slot: new entries of children that are no longer directories; nil = gone

	rulesOnce sync.Once
	rules     *ignore.Chain
	ignored   bool // the rules ignore the directory: only held paths are captured in it

	sealed  bool       // its old block accounts for all names
	leaky   bool       // a name in it is accounted for neither by an entry nor by the rules alone
	judged  bool       // the rules were applied to names in it or below
	readID  *object.ID // blob id of the .gitignore that was read, zero if it was not readable; nil = not read
	rulesID object.ID  // blob id of the captured .gitignore, zero = no rules
	print   uint64     // see printWith
}

// join returns the path of a directory in n, and its room.
func (n *node) join(name string) (path string, room []byte) {
	if n.path == "" {
		return name, nil
	}
	room, n.room = n.room, nil
	return index.Extend(room, n.path, "/"+name)
}

func (n *node) close() {
	if n.handle != nil {
		n.handle.Close()
		n.handle = nil
	}
}

// replace records that the child in slot turned out to be something else when it was opened. nil
// means that it is gone.
func (n *node) replace(slot int, e *index.Entry) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.override == nil {
		n.override = make(map[int]*index.Entry)
	}
	n.override[slot] = e
	n.leaky = true
}

// entries returns the block of n.
func (n *node) entries() []byte {
	if n.shared {
		return n.prev.Raw
	}
	return n.block
}

// appendOld copies an old entry into the new block.
func (n *node) appendOld(rec index.Record) {
	if !n.shared {
		n.block = append(n.block, rec...)
	}
}

// end returns the position of the next entry; at is its position in the old block.
func (n *node) end(at int) int {
	if n.shared {
		return at
	}
	return len(n.block)
}

// own gives n a block of its own, starting with the old entries before at.
func (n *node) own(at int) {
	if n.shared {
		block := slices.Grow(n.block[:0], len(n.prev.Raw)) // most of the rest will be kept
		n.block, n.shared = append(block, n.prev.Raw[:at]...), false
	}
}

// setChild writes the result of a complete child into its entry.
func (n *node) setChild(c *node) {
	if e := c.entry; e != nil && e.Perm() == c.at.Perm && e.ID() == c.dir.Tree && e.Empty() == c.empty {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.shared {
		n.own(len(n.prev.Raw))
	}
	index.SetDir(n.block[c.slot:], c.at.Perm, c.dir.Tree, c.empty)
}

// finish counts down n. At zero it completes n, and then each ancestor that has no other child in
// progress.
func (w *worker) finish(n *node) error {
	for n != nil && n.pending.Add(-1) == 0 {
		if err := w.complete(n); err != nil {
			return err
		}
		n.close()
		if n.parent == nil {
			w.scanner.complete()
		} else {
			n.parent.setChild(n)
		}
		n = n.parent
	}
	return nil
}

// complete makes the block and tree of n. An unchanged directory keeps its old block and costs one
// comparison, or none if it was sealed.
func (w *worker) complete(n *node) error {
	defer w.recycle(n)
	if n.absent {
		n.dir = &index.Dir{}
		return nil
	}
	if n.unread {
		n.dir, n.empty = n.prev, n.wasEmpty
		return nil
	}
	if w.survey {
		n.dir = &index.Dir{}
		return nil
	}
	if n.override != nil {
		n.rebuild()
	}
	if w.isForsaken(n) {
		w.forsake(n)
		return nil
	}
	w.compareRules(n)
	same := n.prev != nil && (n.shared || bytes.Equal(n.block, n.prev.Raw))
	seal := w.sealOf(n, same)
	if same {
		if n.dir = n.prev; seal != n.prev.Seal {
			w.reseal(n.dir, seal)
		}
		return nil
	}
	d := &index.Dir{Path: n.path, Raw: n.finalBlock(), Seal: seal}
	if tree := w.tree.encode(d); len(tree) > 0 || n.parent == nil {
		var err error
		if d.Tree, err = w.Sink.Add(object.Tree, tree); err != nil {
			return err
		}
	}
	n.dir = d
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed = append(w.changed, d)
	return nil
}

// isForsaken reports whether the rules ignore a directory whose captured paths are all gone. The
// next scan would pass over it, so this one does as well.
func (w *worker) isForsaken(n *node) bool {
	if !n.trusted || n.empty {
		return false
	}
	for rec, rest := index.Next(n.entries()); rec != nil; rec, rest = index.Next(rest) {
		if rec.Skip() != index.Rules {
			return false
		}
	}
	return !w.visible(n.parent, n.path, true)
}

// forsake removes the directory from the capture.
func (w *worker) forsake(n *node) {
	n.dir, n.absent = &index.Dir{}, true
	n.parent.replace(n.slot, nil)
	w.remove(n.path)
}

// finalBlock returns the block for the index. It returns a copy if the buffer wastes much memory.
func (n *node) finalBlock() []byte {
	block := n.block
	if cap(block)-len(block) > len(block)/8 {
		return slices.Clone(block)
	}
	n.block = nil
	return block
}

// recycle reuses the block of a complete directory as the next buffer.
func (w *worker) recycle(n *node) {
	if w.block == nil {
		w.block = n.block[:0]
	}
	n.block = nil
}

// rebuild encodes the block again with the overrides.
func (n *node) rebuild() {
	old := n.entries()
	block := make([]byte, 0, len(old))
	offset := 0
	for rec, rest := index.Next(old); rec != nil; rec, rest = index.Next(rest) {
		e, replaced := n.override[offset]
		switch {
		case !replaced:
			block = append(block, rec...)
		case e != nil:
			block = index.Append(block, e)
		}
		offset += len(rec)
	}
	n.block, n.shared = block, false
}

// TreeEntries lists the captured entries of a directory, in git's order.
func TreeEntries(d *index.Dir) []object.Entry {
	var entries []object.Entry
	for rec := range d.All {
		if id := rec.ID(); rec.Skip() == index.Captured && !id.IsZero() {
			entries = append(entries, object.Entry{Name: string(rec.Name()), Mode: rec.Mode(), ID: id})
		}
	}
	object.SortEntries(entries)
	return entries
}
