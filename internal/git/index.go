package git

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// IndexStat is the stat data in the index, each field truncated to 32 bits. Fields that git was
// told not to fill are zero.
type IndexStat struct {
	CTimeSec, CTimeNsec uint32
	MTimeSec, MTimeNsec uint32
	Dev, Ino            uint32
	UID, GID            uint32
	Size                uint32
}

// IndexEntry is one entry of an index. Its name is a path with '/', of any bytes
// but NUL; nothing says that it is safe to use on disk. A name keeps the whole
// index in memory: clone it to keep only that.
type IndexEntry struct {
	Name string
	Mode object.Mode // Dir is a directory of a sparse index, its Name ending in '/'
	ID   object.ID   // zero in a SHA-256 repository
	Stat IndexStat
	// Stage is 0, or 1 to 3 for the sides of a merge conflict.
	Stage        int
	AssumeValid  bool // git update-index --assume-unchanged
	SkipWorktree bool // outside of the sparse checkout
	IntentToAdd  bool // git add -N
}

// Index is the contents of an index file, together with the shared index that it
// builds on, if any. It does not change and may be used concurrently.
type Index struct {
	files   [2]indexFile // the file itself, and the shared one
	entries []entryRef   // in git's order: by the bytes of the name, then by stage
}

// entryRef says where an entry lies. A split index may replace all of an entry but
// its name, so that the two come from different files.
type entryRef struct {
	fixed     uint32 // offset in the file's data
	name, len uint32 // offset and length in the file's names
	fixedIn   uint8
	nameIn    uint8
}

// ReadIndex reads an index of version 2, 3 or 4, split or sparse or neither. The
// checksum at its end is verified unless git left it out (index.skipHash). sha256
// tells the object format of the repository, which the file does not.
//
// A file that does not exist gives an empty index and an os.ErrNotExist. Any other error comes with
// a nil index. A missing shared index is such an error and is not os.ErrNotExist.
func ReadIndex(path string, sha256 bool) (*Index, error) {
	main, err := readIndexFile(path, sha256)
	if os.IsNotExist(err) {
		return new(Index), fmt.Errorf("read git index: %w", err)
	}
	var x *Index
	if err == nil {
		x, err = main.index(func(name string) (*indexFile, error) {
			return readIndexFile(filepath.Join(filepath.Dir(path), name), sha256)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read git index %s: %w", path, err)
	}
	return x, nil
}

// index joins the file with its shared index, if any. open reads the shared index.
func (f *indexFile) index(open func(name string) (*indexFile, error)) (*Index, error) {
	x := &Index{files: [2]indexFile{*f}, entries: f.entries}
	if f.link == nil {
		return x, nil
	}
	shared, err := open("sharedindex." + hex.EncodeToString(f.link.shared))
	switch {
	case err != nil:
		return nil, fmt.Errorf("shared index: %v", err) // not %w: the index itself exists
	case shared.link != nil:
		return nil, fmt.Errorf("%w: shared index refers to another", errIndex)
	case !bytes.Equal(shared.trailer, f.link.shared):
		return nil, fmt.Errorf("%w: shared index is not the one meant", errIndex)
	}
	for i := range shared.entries {
		shared.entries[i].fixedIn, shared.entries[i].nameIn = 1, 1
	}
	x.files[1] = *shared
	if x.entries, err = f.link.join(x, shared.entries, f.entries); err != nil {
		return nil, err
	}
	return x, x.checkOrder()
}

// checkOrder verifies the order on which look-ups rely.
func (x *Index) checkOrder() error {
	last := ""
	for i, e := range x.entries {
		name := x.name(e)
		if name == "" {
			return fmt.Errorf("%w: entry without a name", errIndex)
		}
		c := strings.Compare(last, name)
		if c > 0 || c == 0 && x.compare(x.entries[i-1], e) >= 0 {
			return fmt.Errorf("%w: entry %q out of order", errIndex, name)
		}
		last = name
	}
	return nil
}

// compare is the order of an index.
func (x *Index) compare(a, b entryRef) int {
	if c := strings.Compare(x.name(a), x.name(b)); c != 0 {
		return c
	}
	return x.files[a.fixedIn].stage(a) - x.files[b.fixedIn].stage(b)
}

func (x *Index) name(e entryRef) string {
	return x.files[e.nameIn].names[e.name : e.name+e.len]
}

// Len returns the number of entries.
func (x *Index) Len() int { return len(x.entries) }

// All yields the entries in git's order: by the bytes of their names, then by
// stage. It allocates nothing.
func (x *Index) All() iter.Seq[IndexEntry] { return x.span(0, len(x.entries)) }

// Under yields the entries below the directory dir, of which "" is the top.
func (x *Index) Under(dir string) iter.Seq[IndexEntry] {
	if dir == "" {
		return x.All()
	}
	// '0' follows '/' in ASCII, so dir+"0" is the first name beyond those below dir.
	return x.span(x.search(dir+"/"), x.search(dir+"0"))
}

func (x *Index) span(from, to int) iter.Seq[IndexEntry] {
	return func(yield func(IndexEntry) bool) {
		for i := from; i < to; i++ {
			if !yield(x.entry(i)) {
				return
			}
		}
	}
}

// search returns the position of the first entry that is not before name.
func (x *Index) search(name string) int {
	return sort.Search(len(x.entries), func(i int) bool { return x.name(x.entries[i]) >= name })
}

// HasUnder reports whether an entry lies below the directory dir, of which "" is the
// top. A directory that a sparse index folds into one entry has that entry below it;
// deeper paths are not known.
func (x *Index) HasUnder(dir string) bool {
	if dir == "" {
		return len(x.entries) > 0
	}
	i := x.search(dir + "/")
	return i < len(x.entries) && strings.HasPrefix(x.name(x.entries[i]), dir+"/")
}

// Contains reports whether an entry has this name, at any stage.
func (x *Index) Contains(name string) bool {
	i := x.search(name)
	return i < len(x.entries) && x.name(x.entries[i]) == name
}

// entry decodes entry i, whose fields were checked when the file was read.
func (x *Index) entry(i int) IndexEntry {
	ref := x.entries[i]
	f := &x.files[ref.fixedIn]
	fixed := f.data[ref.fixed:]
	word := func(n int) uint32 { return binary.BigEndian.Uint32(fixed[4*n:]) }
	e := IndexEntry{
		Name: x.name(ref),
		Stat: IndexStat{
			CTimeSec: word(0), CTimeNsec: word(1), MTimeSec: word(2), MTimeNsec: word(3),
			Dev: word(4), Ino: word(5), UID: word(7), GID: word(8), Size: word(9),
		},
	}
	e.Mode, _ = indexMode(word(6))
	if f.idSize == len(e.ID) {
		copy(e.ID[:], fixed[statSize:])
	}
	flags := binary.BigEndian.Uint16(fixed[statSize+f.idSize:])
	e.Stage = int(flags & flagStage >> stageShift)
	e.AssumeValid = flags&flagAssumeValid != 0
	if flags&flagExtended != 0 {
		more := binary.BigEndian.Uint16(fixed[statSize+f.idSize+2:])
		e.SkipWorktree = more&flagSkipWorktree != 0
		e.IntentToAdd = more&flagIntentToAdd != 0
	}
	return e
}
