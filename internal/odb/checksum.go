package odb

import (
	"bytes"
	"context"
	"crypto/sha1"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// checkSums compares a pack and its index with the checksums that end them.
func (p *pack) checkSums(ctx context.Context) error {
	if _, err := p.data(); err != nil {
		return err
	}
	for _, ext := range []string{idxExt, packExt} {
		if err := checkSum(ctx, p.stem+ext); err != nil {
			return p.wrap(ext, err)
		}
	}
	return nil
}

func checkSum(ctx context.Context, path string) error {
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
		return corrupt("file of %d bytes", info.Size())
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
	if err := readAt(f, want[:], info.Size()-sha1.Size); err != nil {
		return err
	}
	if !bytes.Equal(h.Sum(nil), want[:]) {
		return corrupt("wrong checksum")
	}
	return nil
}
