package worktree

import (
	"bytes"
	"slices"
)

// direntBuffer is what one getdents call may return: 64 KiB hold about 2,000 names.
const direntBuffer = 64 << 10

// kind is what a listing says of a name without a look at it. Not every file system
// tells, and it may be wrong by now.
type kind byte

const (
	kindUnknown kind = iota
	kindDir
	kindFile // or a symlink
)

// listing is a reusable buffer for the names of one directory. Each name is
// followed by a NUL inside the buffer, so that a system call can take it as it is,
// and by its kind.
type listing struct {
	buf   []byte
	names [][]byte
}

func (l *listing) reset() { l.buf, l.names = l.buf[:0], l.names[:0] }

// add appends a name. Earlier names keep pointing into the old array when the
// buffer grows, which stays valid.
func (l *listing) add(name []byte, k kind) {
	start := len(l.buf)
	l.buf = append(append(l.buf, name...), 0, byte(k))
	l.names = append(l.names, l.buf[start:len(l.buf)-2])
}

// listedKind is the kind of a name of a listing.
func listedKind(name []byte) kind { return kind(name[:len(name)+2][len(name)+1]) }

// asListed is a name that a listing had, with nothing said about its kind.
func asListed(name string) []byte { return append([]byte(name), 0, byte(kindUnknown))[:len(name)] }

func (l *listing) sort() { slices.SortFunc(l.names, bytes.Compare) }

func (l *listing) has(name string) bool {
	_, ok := slices.BinarySearchFunc(l.names, name, func(a []byte, b string) int {
		return bytes.Compare(a, []byte(b))
	})
	return ok
}
