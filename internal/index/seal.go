package index

import "encoding/binary"

// Seal records the stat of a directory at which every name in it was accounted for: the name has a
// record in the block, or the ignore rules pass it over. While the directory has this stat, no name
// has come or gone, so a scan with the block need not list the directory. The seal says nothing
// about the files behind the names. The zero Seal is never valid.
type Seal struct {
	MTime, CTime int64 // nanoseconds since 1970
	Ino          uint64
	Rules        uint64 // identifies the .gitignore files in force, never 0 in a valid seal
}

// sealSize is the size of an encoded Seal.
const sealSize = 4 * 8

func (s *Seal) append(out []byte) []byte {
	for _, v := range [...]uint64{uint64(s.MTime), uint64(s.CTime), s.Ino, s.Rules} {
		out = binary.LittleEndian.AppendUint64(out, v)
	}
	return out
}

// decode is the inverse of append. For fewer bytes it leaves the zero Seal.
func (s *Seal) decode(b []byte) {
	le := binary.LittleEndian
	if len(b) == sealSize {
		*s = Seal{int64(le.Uint64(b)), int64(le.Uint64(b[8:])), le.Uint64(b[16:]), le.Uint64(b[24:])}
	}
}
