package dir

import (
	"bytes"
	"slices"
)

// ListBuffer is what one getdents call may return: 64 KiB hold about 2,000 names.
const ListBuffer = 64 << 10

// Kind is what a listing says of a name without a look at it. Not every file system
// tells, and it may be wrong by now.
type Kind byte

const (
	KindUnknown Kind = iota
	KindDir
	KindFile // or a symlink
)

// Listing is a reusable buffer for the names of one directory. Each name is
// followed by a NUL inside the buffer, so that a system call can take it as it is,
// and by its kind.
type Listing struct {
	buf   []byte
	Names [][]byte
}

func (l *Listing) Reset() { l.buf, l.Names = l.buf[:0], l.Names[:0] }

// add appends a name. Earlier names keep pointing into the old array when the
// buffer grows, which stays valid.
func (l *Listing) add(name []byte, k Kind) {
	start := len(l.buf)
	l.buf = append(append(l.buf, name...), 0, byte(k))
	l.Names = append(l.Names, l.buf[start:len(l.buf)-2])
}

// KindOf is the kind of a name of a listing.
func KindOf(name []byte) Kind { return Kind(name[:len(name)+2][len(name)+1]) }

// ListedName is a name that a listing had, with nothing said about its kind.
func ListedName(name string) []byte { return append([]byte(name), 0, byte(KindUnknown))[:len(name)] }

func (l *Listing) sort() { slices.SortFunc(l.Names, bytes.Compare) }

func (l *Listing) Has(name string) bool {
	_, ok := slices.BinarySearchFunc(l.Names, name, func(a []byte, b string) int {
		return bytes.Compare(a, []byte(b))
	})
	return ok
}
