// Package object encodes and decodes git's object formats: ids, blobs, trees and
// commits. It is pure: bytes in, bytes out, standard library only.
//
// The formats follow git's documentation of the object store. Everything that
// parses takes hostile input: an error names the fault, nothing panics.
package object

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strconv"
)

// ID is a SHA-1 object name.
type ID [20]byte

// ErrMalformed is wrapped by every parse error of this package.
var ErrMalformed = errors.New("malformed object")

// EmptyTree is the id of the tree without entries.
var EmptyTree = Sum(Tree, nil)

// ParseID reads 40 lower- or upper-case hex digits.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 2*len(id) {
		return ID{}, fmt.Errorf("%w: id of %d characters, want %d", ErrMalformed, len(s), 2*len(id))
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return ID{}, fmt.Errorf("%w: id %q is not hexadecimal", ErrMalformed, s)
	}
	return id, nil
}

// String returns the 40 hex digits.
func (id ID) String() string {
	var digits [2 * len(id)]byte
	hex.Encode(digits[:], id[:])
	return string(digits[:])
}

// IsZero reports whether id is the zero value, which names no object.
func (id ID) IsZero() bool { return id == ID{} }

// Kind is an object type, with the numbers of git's pack format.
type Kind uint8

// The kinds of object. Tag is only ever read.
const (
	Commit Kind = 1
	Tree   Kind = 2
	Blob   Kind = 3
	Tag    Kind = 4
)

var kindNames = [...]string{Commit: "commit", Tree: "tree", Blob: "blob", Tag: "tag"}

// String returns git's name of the kind.
func (k Kind) String() string {
	if k < Commit || k > Tag {
		return "kind(" + strconv.Itoa(int(k)) + ")"
	}
	return kindNames[k]
}

// ParseKind is the inverse of Kind.String.
func ParseKind(s string) (Kind, error) {
	for k := Commit; k <= Tag; k++ {
		if kindNames[k] == s {
			return k, nil
		}
	}
	return 0, fmt.Errorf("%w: unknown kind %q", ErrMalformed, s)
}

// AppendHeader appends what git hashes before an object's contents:
// the kind, a blank, the size in decimal and a NUL.
func AppendHeader(dst []byte, k Kind, size int64) []byte {
	dst = append(dst, k.String()...)
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, size, 10)
	return append(dst, 0)
}

// Sum returns the id of an object held in memory.
func Sum(k Kind, content []byte) ID {
	h := NewHash(k, int64(len(content)))
	h.Write(content)
	return HashID(h)
}

// NewHash returns a hash that has consumed the header of an object of size bytes;
// write exactly that many bytes of contents to it, then call HashID.
func NewHash(k Kind, size int64) hash.Hash {
	h := sha1.New()
	var buf [32]byte
	h.Write(AppendHeader(buf[:0], k, size))
	return h
}

// HashID returns the id that h has arrived at.
func HashID(h hash.Hash) ID {
	var id ID
	h.Sum(id[:0])
	return id
}
