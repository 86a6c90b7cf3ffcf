package odb

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// redoRecord is what one publish promised.
type redoRecord struct {
	token redoToken
	refs  []redoRef
	name  string // of a pack, "" = none
	pack  []byte // its files; empty if it was on the disk before the record was
	idx   []byte
}

// redoRef is a ref and what it was and is to point to; a zero id means that there is
// no such ref.
type redoRef struct {
	name     string
	from, to object.ID
}

// The body of a record: the token; the name of the pack, its bytes and those of its
// index, each behind its length; the number of refs, and of each its name, behind the
// length, and the two ids. Numbers are uvarints.
func (r *redoRecord) appendTo(out []byte) []byte {
	out = append(slices.Grow(out, len(r.pack)+len(r.idx)+1024), r.token[:]...)
	for _, field := range [][]byte{[]byte(r.name), r.pack, r.idx} {
		out = append(binary.AppendUvarint(out, uint64(len(field))), field...)
	}
	out = binary.AppendUvarint(out, uint64(len(r.refs)))
	for _, ref := range r.refs {
		out = append(binary.AppendUvarint(out, uint64(len(ref.name))), ref.name...)
		out = append(append(out, ref.from[:]...), ref.to[:]...)
	}
	return out
}

// size is at least what appendTo will make, without the files of the pack.
func (r *redoRecord) size() int64 {
	n := redoTokens + len(r.name) + 4*binary.MaxVarintLen64
	for _, ref := range r.refs {
		n += len(ref.name) + 2*idSize + binary.MaxVarintLen64
	}
	return int64(n)
}

// decodeRedo reads a body, and refuses what promise never writes, but for the contents of
// packs, which holds looks at.
func decodeRedo(body []byte) (r redoRecord, err error) {
	in := redoReader{data: body}
	copy(r.token[:], in.take(redoTokens))
	r.name, r.pack, r.idx = string(in.field()), in.field(), in.field()
	for n := in.number(); n > 0 && !in.short; n-- {
		ref := redoRef{name: string(in.field())}
		copy(ref.from[:], in.take(idSize))
		copy(ref.to[:], in.take(idSize))
		if !in.short && checkRefName(ref.name) != nil {
			return r, pack.Corrupt("redo log names the ref %.80q", ref.name)
		}
		r.refs = append(r.refs, ref)
	}
	if in.short || len(in.data) > 0 {
		return r, pack.Corrupt("redo log holds a record of the wrong length")
	}
	return r, r.checkPack()
}

// checkPack looks at the name and at the lengths of the files.
func (r *redoRecord) checkPack() error {
	if r.name == "" && len(r.pack)+len(r.idx) == 0 {
		return nil
	}
	if digits, ok := strings.CutPrefix(r.name, pack.Prefix); !ok || len(digits) != 2*sha1.Size || strings.Trim(digits, "0123456789abcdef") != "" {
		return pack.Corrupt("redo log names the pack %.80q", r.name)
	}
	if len(r.pack)+len(r.idx) == 0 {
		return nil
	}
	if len(r.pack) < pack.HeadSize+sha1.Size || len(r.idx) < pack.IndexHeadSize+pack.IndexTailSize {
		return pack.Corrupt("redo log holds half a pack")
	}
	return nil
}

// holds compares the files with the name: it follows from the checksum of the pack, which
// the index repeats.
func (r *redoRecord) holds() error {
	if len(r.pack) == 0 {
		return nil
	}
	sum := sha1.Sum(r.pack[:len(r.pack)-sha1.Size])
	if !bytes.Equal(sum[:], r.pack[len(r.pack)-sha1.Size:]) || pack.OwnName(sum) != r.name ||
		!bytes.Equal(sum[:], r.idx[len(r.idx)-pack.IndexTailSize:][:sha1.Size]) {
		return pack.Corrupt("redo log holds a pack that is not %s", r.name)
	}
	return nil
}

// redoReader takes a body apart. After the first field that is not there all others
// are empty.
type redoReader struct {
	data  []byte
	short bool
}

func (in *redoReader) take(n int) []byte {
	if in.short || n < 0 || n > len(in.data) {
		in.short = true
		return nil
	}
	out := in.data[:n:n]
	in.data = in.data[n:]
	return out
}

func (in *redoReader) number() int {
	n, size := binary.Uvarint(in.data)
	if size <= 0 || n > redoMax {
		in.short = true
		return 0
	}
	in.data = in.data[size:]
	return int(n)
}

func (in *redoReader) field() []byte { return in.take(in.number()) }
