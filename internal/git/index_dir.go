package git

// IndexDir looks up names in one directory of an index. Comparing names takes a fraction of the
// time of comparing whole paths, and no path must be built.
type IndexDir struct {
	index    *Index
	skip     int // length of the common prefix of all names
	from, to int // positions of the entries below the directory
}

// Dir returns the look-ups of a directory, of which "" is the top. There need not be
// such a directory.
func (x *Index) Dir(dir string) IndexDir {
	if dir == "" {
		return IndexDir{x, 0, 0, len(x.entries)}
	}
	return IndexDir{x, len(dir) + 1, x.search(dir + "/"), x.search(dir + "0")} // see Under
}

// Lookup returns the position of the entry of this name at stage 0, as At takes it.
func (d IndexDir) Lookup(name []byte) (pos int, ok bool) {
	x, lo, hi := d.index, d.from, d.to
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if x.name(x.entries[mid])[d.skip:] < string(name) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == d.to || x.name(x.entries[lo])[d.skip:] != string(name) {
		return 0, false
	}
	ref := x.entries[lo]
	return lo, x.files[ref.fixedIn].stage(ref) == 0
}

// At returns the entry at a position, from 0 to Len less one.
func (x *Index) At(pos int) IndexEntry { return x.entry(pos) }
