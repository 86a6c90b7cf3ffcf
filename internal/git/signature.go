package git

import (
	"io/fs"
	"os"
)

// Signature tells one state of an index file from another without reading it.
// Two states that differ in anything that counts differ in the checksum at the end
// of the file; the stat data cover for git's index.skipHash, which leaves that out.
// A shared index is covered because the file that refers to it names it by checksum.
type Signature struct {
	Size, MTime, CTime int64 // times in nanoseconds since 1970
	Dev, Ino           uint64
	Trailer            [20]byte
}

func sign(f *os.File, info fs.FileInfo) (Signature, error) {
	s := Signature{Size: info.Size(), MTime: info.ModTime().UnixNano()}
	if err := s.fill(f); err != nil {
		return Signature{}, &fs.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	if at := s.Size - int64(len(s.Trailer)); at >= 0 {
		if _, err := f.ReadAt(s.Trailer[:], at); err != nil {
			return Signature{}, err
		}
	}
	return s, nil
}
