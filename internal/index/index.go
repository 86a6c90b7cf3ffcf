package index

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Index is the stat cache of one root, held in memory. It is not safe for
// concurrent use; its Dirs are immutable and may be shared.
type Index struct {
	Dirs map[string]*Dir

	// Packs names the store's packs at the time when the ids were recorded. If one of them is gone,
	// ids may name objects that no longer exist.
	Packs []string

	// Aux is data of the caller, stored unchanged.
	Aux []byte

	base    uint64   // id of the base file that this state extends, 0 = none
	baseLen int64    // its size, in bytes
	tailLen int64    // size of the intact part of the delta
	tailSum uint32   // checksum of its last intact record; the next record continues it
	summary *summary // nil = not computed yet
	changed []*Dir   // since the last Load or Save
	removed []string // since the last Load or Save; may include paths that came back

	// saved holds, for the paths in changed, the blocks of Load or the last save: nil = none, or
	// not known.
	saved map[string]*Dir

	private bool // Packs or Aux changed
}

// New returns an empty index.
func New() *Index { return &Index{Dirs: make(map[string]*Dir)} }

// Root returns the block of the root, nil before the first scan.
func (x *Index) Root() *Dir { return x.Dirs[""] }

// Put adds or replaces a directory's block.
func (x *Index) Put(d *Dir) {
	old := x.Dirs[d.Path]
	x.summary.replace(old, d)
	x.Dirs[d.Path] = d
	x.changed = append(x.changed, d)
	if x.base == 0 { // the whole index will be written
		return // all will be written
	}
	if _, known := x.saved[d.Path]; !known {
		if x.saved == nil {
			x.saved = make(map[string]*Dir)
		}
		x.saved[d.Path] = old
	}
}

// Remove drops a directory and everything below it.
func (x *Index) Remove(path string) {
	d := x.Dirs[path]
	if d == nil {
		return
	}
	for rec := range d.All {
		if rec.Mode() == object.Dir {
			x.Remove(Join(path, string(rec.Name())))
		}
	}
	x.summary.replace(d, nil)
	delete(x.Dirs, path)
	x.removed = append(x.removed, path)
}

// SetPrivate records the pack names and the caller's data.
func (x *Index) SetPrivate(packs []string, aux []byte) {
	if slices.Equal(packs, x.Packs) && string(aux) == string(x.Aux) {
		return
	}
	x.Packs, x.Aux, x.private = packs, aux, true
}

// Dirty reports whether Save has something to write.
func (x *Index) Dirty() bool { return len(x.changed)+len(x.removed) > 0 || x.private }

// Clone returns an index that shares the blocks, so that a plan can be applied to it as a trial.
// The clone is never saved.
func (x *Index) Clone() *Index { return &Index{Dirs: maps.Clone(x.Dirs), Packs: x.Packs, Aux: x.Aux} }

// Lookup returns the record of a path, or nil.
func (x *Index) Lookup(path string) Record {
	dir, name := Split(path)
	if d := x.Dirs[dir]; d != nil {
		return d.Find(name)
	}
	return nil
}

// Has reports whether there is an entry for a path.
func (x *Index) Has(path string) bool { return x.Lookup(path) != nil }

// Join appends a name to a '/'-separated path; the root is "".
func Join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// Split is the inverse of Join.
func Split(path string) (dir, name string) {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return "", path
}
