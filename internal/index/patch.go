package index

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// patch is the difference between two blocks of a directory: a changed file in a directory of ten
// thousand costs a save one record. Records that it does not name are unchanged.
type patch struct {
	path string
	tree object.ID
	seal Seal
	gone []string // names that have no record any more
	raw  []byte   // the new records, as a block
}

// minPatch is the size of an empty patch.
const minPatch = 4 + len(object.ID{}) + sealSize + 4 + 4

// newPatch returns the patch from one block of a directory to another. ok is false if it would be
// larger than half of the new block.
func newPatch(old, d *Dir) (p patch, ok bool) {
	p = patch{path: d.Path, tree: d.Tree, seal: d.Seal}
	budget := len(d.Raw) / 2
	for was, is := range Differences(old, d) {
		if is == nil {
			p.gone = append(p.gone, string(was.Name()))
			budget -= 4 + len(was.Name())
		}
		p.raw = append(p.raw, is...)
		if budget-len(p.raw) < 0 {
			return p, false
		}
	}
	return p, true
}

func (p *patch) size() int {
	size := minPatch + len(p.path) + len(p.raw)
	for _, name := range p.gone {
		size += 4 + len(name)
	}
	return size
}

func (p *patch) append(out []byte) []byte {
	out = appendPiece(out, p.path)
	out = append(out, p.tree[:]...)
	out = p.seal.append(out)
	out = appendStrings(out, p.gone)
	return appendPiece(out, p.raw)
}

// patches decodes a counted list of patches, the inverse of append.
func (r *reader) patches() ([]patch, error) {
	list := make([]patch, r.count(minPatch))
	for i := range list {
		p := &list[i]
		p.path = string(r.piece())
		copy(p.tree[:], r.next(len(p.tree)))
		p.seal.decode(r.next(sealSize))
		p.gone = r.strings()
		p.raw = r.piece()
		if err := checkBlock(p.raw); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// patched collects the patches of a directory. They are applied together: a delta may hold
// thousands for one large block.
type patched struct {
	last  *patch
	names map[string]Record // nil = gone
}

func (d *patched) add(p *patch) {
	if d.last = p; d.names == nil {
		d.names = make(map[string]Record)
	}
	for _, name := range p.gone {
		d.names[name] = nil
	}
	for rec, rest := Next(p.raw); rec != nil; rec, rest = Next(rest) {
		d.names[string(rec.Name())] = rec
	}
}

// apply returns the block that results from the patches of an old one.
func (d *patched) apply(old *Dir) *Dir {
	size := len(old.Raw)
	for _, rec := range d.names {
		size += len(rec)
	}
	raw := make([]byte, 0, size)
	names := slices.Sorted(maps.Keys(d.names))
	for rec := range old.All {
		for len(names) > 0 && names[0] < string(rec.Name()) {
			raw, names = append(raw, d.names[names[0]]...), names[1:]
		}
		if len(names) > 0 && names[0] == string(rec.Name()) {
			rec, names = d.names[names[0]], names[1:]
		}
		raw = append(raw, rec...)
	}
	for _, name := range names {
		raw = append(raw, d.names[name]...)
	}
	return &Dir{Path: old.Path, Tree: d.last.tree, Seal: d.last.seal, Raw: raw}
}

// replayed is an index while a delta is applied.
type replayed struct {
	*Index
	patched map[string]*patched
}

// apply applies a whole record. A record with a patch for a missing directory, which no save
// writes, is refused as a whole.
func (x *replayed) apply(rec *record) error {
	gone := make(map[string]bool, len(rec.removed))
	for _, path := range rec.removed {
		gone[path] = true
	}
	for _, p := range rec.patches {
		if x.Dirs[p.path] == nil || gone[p.path] {
			return fmt.Errorf("%w: patch of nothing", ErrMalformed)
		}
	}
	x.Index.apply(rec)
	for path := range gone {
		delete(x.patched, path)
	}
	for _, d := range rec.dirs {
		delete(x.patched, d.Path)
	}
	for i := range rec.patches {
		p := &rec.patches[i]
		if x.patched[p.path] == nil {
			x.patched[p.path] = new(patched)
		}
		x.patched[p.path].add(p)
	}
	return nil
}

// finish applies the patches.
func (x *replayed) finish() {
	for path, p := range x.patched {
		x.Dirs[path] = p.apply(x.Dirs[path])
	}
}
