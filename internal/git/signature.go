package git

import (
	"fmt"
	"io/fs"
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

// IndexSignature returns the signature of the index at path. Fields that a platform
// lacks are zero. A file that does not exist is os.ErrNotExist.
func IndexSignature(path string) (Signature, error) {
	f, info, err := openRegular(path)
	if err != nil {
		return Signature{}, fmt.Errorf("read git index: %w", err)
	}
	defer f.Close()
	s := Signature{Size: info.Size(), MTime: info.ModTime().UnixNano()}
	if err := s.fill(f); err != nil {
		return Signature{}, fmt.Errorf("read git index: %w", &fs.PathError{Op: "stat", Path: path, Err: err})
	}
	if at := s.Size - int64(len(s.Trailer)); at >= 0 {
		if _, err := f.ReadAt(s.Trailer[:], at); err != nil {
			return Signature{}, fmt.Errorf("read git index: %w", err)
		}
	}
	return s, nil
}
