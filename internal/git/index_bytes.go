package git

import (
	"fmt"
	"iter"
)

// ParseIndex is ReadIndex for the contents of an index file. shared returns the contents of a shared
// index by its name. Checksums are not verified. The contents must not change afterwards.
func ParseIndex(data []byte, sha256 bool, shared func(name string) []byte) (*Index, error) {
	idSize := 20
	if sha256 {
		idSize = 32
	}
	parse := func(data []byte) (*indexFile, error) {
		if len(data) < indexHeader+idSize {
			return nil, fmt.Errorf("%w: too short", errIndex)
		}
		return parseIndexFile(data, idSize)
	}
	f, err := parse(data)
	if err != nil {
		return nil, err
	}
	return f.index(func(name string) (*indexFile, error) { return parse(shared(name)) })
}

// Contents returns the contents of the index file, without those of a shared index. They must not be changed.
func (x *Index) Contents() []byte { return x.files[0].whole }

// IDs yields the id of each entry in its binary form, of either object format, in the order of All.
func (x *Index) IDs() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, ref := range x.entries {
			f := &x.files[ref.fixedIn]
			if !yield(f.data[int(ref.fixed)+statSize:][:f.idSize]) {
				return
			}
		}
	}
}

// WithIDs is All with the id of each entry in its binary form, of either object format.
func (x *Index) WithIDs() iter.Seq2[IndexEntry, []byte] {
	return func(yield func(IndexEntry, []byte) bool) {
		for i, ref := range x.entries {
			f := &x.files[ref.fixedIn]
			if !yield(x.entry(i), f.data[int(ref.fixed)+statSize:][:f.idSize]) {
				return
			}
		}
	}
}
