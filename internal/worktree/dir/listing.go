package dir

import (
	"bytes"
	"slices"
)

// ListBuffer is the size of a buffer for one getdents call: 64 KiB hold about 2,000 names.
const ListBuffer = 64 << 10

// Kind is the type of a name as the listing has it, without an lstat. Some file systems do
// not report it, and the name may have changed since.
type Kind byte

// The kinds. KindUnknown is that of a file system that reports none.
const (
	KindUnknown Kind = iota
	KindDir
	KindFile // or a symlink
)

// Listing is a reusable buffer for the names of one directory. In the buffer, a NUL and the
// kind follow each name, so a system call can use the name in place.
type Listing struct {
	buf   []byte
	Names [][]byte
}

// Reset empties the listing.
func (l *Listing) Reset() { l.buf, l.Names = l.buf[:0], l.Names[:0] }

// add appends a name. When the buffer grows, earlier names still point into the old array,
// which stays valid.
func (l *Listing) add(name []byte, k Kind) {
	start := len(l.buf)
	l.buf = append(append(l.buf, name...), 0, byte(k))
	l.Names = append(l.Names, l.buf[start:len(l.buf)-2])
}

// KindOf returns the kind of a name. The name must come from a Listing or from ListedName.
func KindOf(name []byte) Kind { return Kind(name[:len(name)+2][len(name)+1]) }

// ListedName returns name in the form that a Listing has, with an unknown kind.
func ListedName(name string) []byte { return append([]byte(name), 0, byte(KindUnknown))[:len(name)] }

func (l *Listing) sort() { slices.SortFunc(l.Names, bytes.Compare) }

// Has reports whether the directory has exactly this name. The listing must be sorted.
func (l *Listing) Has(name string) bool {
	_, ok := slices.BinarySearchFunc(l.Names, name, func(a []byte, b string) int {
		return bytes.Compare(a, []byte(b))
	})
	return ok
}
