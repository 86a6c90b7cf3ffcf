package git

import (
	"fmt"
	"io/fs"
	"os"
)

// Signature identifies a state of an index file without reading it. Two states that differ in
// content have different checksums at the end of the file. The stat data cover an index without
// that checksum (index.skipHash). A shared index is covered, because the file that refers to it
// names it by checksum.
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
	s, err := sign(f, info)
	if err != nil {
		return Signature{}, fmt.Errorf("read git index: %w", err)
	}
	return s, nil
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
