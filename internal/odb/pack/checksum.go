package pack

import (
	"bytes"
	"context"
	"crypto/sha1"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// CheckSums compares a pack and its index with the checksums that end them.
func (p *Pack) CheckSums(ctx context.Context) error {
	if _, err := p.Body(); err != nil {
		return err
	}
	for _, ext := range []string{IndexExt, Ext} {
		if err := CheckSum(ctx, p.Stem+ext); err != nil {
			return p.Wrap(ext, err)
		}
	}
	return nil
}

// CheckSum compares a file of a pack with the checksum at its end.
func CheckSum(ctx context.Context, path string) error {
	f, err := atomicfile.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < sha1.Size {
		return Corrupt("file of %d bytes", info.Size())
	}
	h := sha1.New()
	in := io.NewSectionReader(f, 0, info.Size()-sha1.Size)
	for {
		_, err := io.CopyN(h, in, 8<<20)
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	var want [sha1.Size]byte
	if err := ReadAt(f, want[:], info.Size()-sha1.Size); err != nil {
		return err
	}
	if !bytes.Equal(h.Sum(nil), want[:]) {
		return Corrupt("wrong checksum")
	}
	return nil
}
