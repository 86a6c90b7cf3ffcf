package odb

import (
	"bytes"
	"encoding/binary"
	"fmt"
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

// deflated returns what text is compressed, for the caller to read only. It uses d.out.
func (r *recurring) deflated(d *deflater, text []byte) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes.Equal(r.text, text) {
		return r.done, nil
	}
	d.out.Reset()
	if err := d.blocks(text, (*flate.Writer).Flush); err != nil {
		return nil, err
	}
	r.text, r.done = bytes.Clone(text), bytes.Clone(d.out.Bytes())
	return r.done, nil
}

// encodeAround is encode for contents whose part from one byte to another is likely to be
// what r has.
func (d *deflater) encodeAround(k object.Kind, content []byte, from, to int, r *recurring) ([]byte, error) {
	part, err := r.deflated(d, content[from:to])
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
