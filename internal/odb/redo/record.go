package redo

import (
	"encoding/binary"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Record is the record of one publish.
type Record struct {
	token Token
	Refs  []Ref
	Name  string // of a pack, "" = none
	Pack  []byte // contents of the pack; empty if the pack was flushed before the record
	Idx   []byte // contents of its index
}

// Ref is a ref with its values before and after a publish. A zero id stands for an absent ref.
type Ref struct {
	Name     string
	From, To object.ID
}

// appendTo appends the body of a record: the token; the name of the pack, its contents and those
// of its index, each behind its length; the number of refs, and of each ref its name, behind the
// length, and both ids. Numbers are uvarints.
func (r *Record) appendTo(out []byte) []byte {
	out = append(slices.Grow(out, len(r.Pack)+len(r.Idx)+1024), r.token[:]...)
	for _, field := range [][]byte{[]byte(r.Name), r.Pack, r.Idx} {
		out = append(binary.AppendUvarint(out, uint64(len(field))), field...)
	}
	out = binary.AppendUvarint(out, uint64(len(r.Refs)))
	for _, ref := range r.Refs {
		out = append(binary.AppendUvarint(out, uint64(len(ref.Name))), ref.Name...)
		out = append(append(out, ref.From[:]...), ref.To[:]...)
	}
	return out
}

// Size returns an upper bound of the size of the record without the contents of the pack.
func (r *Record) Size() int64 {
	n := tokenSize + len(r.Name) + 4*binary.MaxVarintLen64
	for _, ref := range r.Refs {
		n += len(ref.Name) + 2*len(object.ID{}) + binary.MaxVarintLen64
	}
	return int64(n)
}

// decode reads a body. It does not judge names and contents.
func decode(body []byte) (r Record, err error) {
	in := bodyReader{data: body}
	copy(r.token[:], in.next(tokenSize))
	r.Name, r.Pack, r.Idx = string(in.field()), in.field(), in.field()
	for n := in.number(); n > 0 && !in.short; n-- {
		ref := Ref{Name: string(in.field())}
		copy(ref.From[:], in.next(len(object.ID{})))
		copy(ref.To[:], in.next(len(object.ID{})))
		r.Refs = append(r.Refs, ref)
	}
	if in.short || len(in.data) > 0 {
		return r, errTorn
	}
	return r, nil
}

// bodyReader splits a body into fields. After the first missing field all others are empty.
type bodyReader struct {
	data  []byte
	short bool
}

func (in *bodyReader) next(n int) []byte {
	if in.short || n < 0 || n > len(in.data) {
		in.short = true
		return nil
	}
	out := in.data[:n:n]
	in.data = in.data[n:]
	return out
}

func (in *bodyReader) number() int {
	n, size := binary.Uvarint(in.data)
	if size <= 0 || n > MaxRecord {
		in.short = true
		return 0
	}
	in.data = in.data[size:]
	return int(n)
}

func (in *bodyReader) field() []byte { return in.next(in.number()) }
