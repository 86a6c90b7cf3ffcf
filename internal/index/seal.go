package index

import "encoding/binary"

// Seal says under which stat of a directory every name in it is accounted for: it has
// a record in the directory's block, or the ignore rules pass it over. As long as the
// stat is this one no name has come or gone, so who knows the block need not list the
// directory. What lies behind the names may have changed: the seal tells nothing of it.
// The zero Seal says nothing.
type Seal struct {
	MTime, CTime int64 // nanoseconds since 1970
	Ino          uint64
	Rules        uint64 // names the .gitignore files in force, never 0 in a seal that counts
}

// sealSize is the size of an encoded Seal.
const sealSize = 4 * 8

func (s *Seal) append(out []byte) []byte {
	for _, v := range [...]uint64{uint64(s.MTime), uint64(s.CTime), s.Ino, s.Rules} {
		out = binary.LittleEndian.AppendUint64(out, v)
	}
	return out
}

// decode is the inverse of append. Of fewer bytes it makes the zero Seal.
func (s *Seal) decode(b []byte) {
	le := binary.LittleEndian
	if len(b) == sealSize {
		*s = Seal{int64(le.Uint64(b)), int64(le.Uint64(b[8:])), le.Uint64(b[16:]), le.Uint64(b[24:])}
	}
}
