package odb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/flate"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// recurring is the last part of contents that was compressed for itself. A checkpoint's
// commit lists what a tree cannot hold: with a thousand empty directories that is ten
// times as long as all else that a small capture writes, and nearly always as it was.
type recurring struct {
	mu   sync.Mutex
	text []byte
	done []byte // text as blocks of deflate that end at a byte, and refer to nothing before
}

// worthKeeping is from what length on a part is compressed for itself: the seams cost
// some 20 bytes.
const worthKeeping = 4 << 10

// deflated returns what text is compressed, for the caller to read only.
func (r *recurring) deflated(text []byte, compress func([]byte) ([]byte, error)) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes.Equal(r.text, text) {
		return r.done, nil
	}
	done, err := compress(text)
	if err != nil {
		return nil, err
	}
	r.text, r.done = slices.Clone(text), slices.Clone(done)
	return r.done, nil
}

// encodeAround is encode for contents whose part from one byte to another middle
// compresses, or has compressed before.
func (d *deflater) encodeAround(k object.Kind, content []byte, from, to int, middle func([]byte, func([]byte) ([]byte, error)) ([]byte, error)) ([]byte, error) {
	part, err := middle(content[from:to], func(text []byte) ([]byte, error) {
		d.out.Reset()
		err := d.blocks(text, (*flate.Writer).Flush)
		return d.out.Bytes(), err
	})
	d.out.Reset()
	d.out.Write(appendEntryHead(make([]byte, 0, maxEntryHead), k, int64(len(content))))
	d.out.Write(zlibHead)
	if err == nil {
		err = d.blocks(content[:from], (*flate.Writer).Flush)
	}
	d.out.Write(part)
	if err == nil {
		err = d.blocks(content[to:], (*flate.Writer).Close)
	}
	if err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	d.out.Write(binary.BigEndian.AppendUint32(nil, adlerOver(1, content)))
	return d.out.Bytes(), nil
}

// blocks appends text to d.out as blocks that refer to nothing before; end says whether
// others follow.
func (d *deflater) blocks(text []byte, end func(*flate.Writer) error) error {
	w := d.fast.blocks(&d.out, flate.BestSpeed)
	if _, err := w.Write(text); err != nil {
		return err
	}
	return end(w)
}
