package pack

import (
	"bytes"
	"crypto/sha1"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zlib"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// fuzzMost bounds the inputs: a byte of deflate may stand for a thousand.
const fuzzMost = 16 << 10

// FuzzPackIndex reads hostile indexes, in memory and from the file. An index that
// is read is consistent, and its encoding gives an index that says the same.
func FuzzPackIndex(f *testing.F) {
	for _, n := range []int{0, 1, 5} {
		data, err := encodeIndex(manyRows(n), [sha1.Size]byte{7}, offsetBit)
		must(f, err)
		f.Add(data[:len(data)-sha1.Size])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > idxInMemory/2 {
			return
		}
		// A checksum that fits, so that the rest is looked at.
		sum := sha1.Sum(data)
		data = append(slices.Clip(data), sum[:]...)
		x, err := openIndex(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		inFile := *x
		inFile.data, inFile.src = nil, bytes.NewReader(data)
		var rows []Row
		for pos := range x.N {
			id, err := x.id(pos)
			must(t, err)
			off, ok, err := x.Find(id)
			off2, ok2, err2 := inFile.Find(id)
			if ok && off < 0 || ok && err != nil || ok2 && off2 < 0 || ok2 && err2 != nil {
				t.Fatalf("found %s at %d, %v; %d, %v", id, off, err, off2, err2)
			}
		}
		err = x.Each(func(r Row) { rows = append(rows, r) })
		n := 0
		if err2 := inFile.Each(func(Row) { n++ }); (err == nil) != (err2 == nil) || n != len(rows) {
			t.Fatalf("%d rows, %v; %d in the file, %v", len(rows), err, n, err2)
		}
		if err != nil {
			return
		}
		again, err := encodeIndex(slices.Clone(rows), x.packSum, offsetBit)
		must(t, err)
		y, err := openIndex(bytes.NewReader(again), int64(len(again)))
		if err != nil {
			t.Fatalf("what we wrote: %v", err)
		}
		for _, r := range rows {
			if _, ok, err := y.Find(r.ID); !ok || err != nil {
				t.Fatalf("what we wrote lacks %s: %v", r.ID, err)
			}
		}
	})
}

// FuzzPack reads entries from hostile packs: whole ones, deltas by distance and by
// id, at every offset.
func FuzzPack(f *testing.F) {
	deflate := func(s string) string {
		var out bytes.Buffer
		zw := zlib.NewWriter(&out)
		zw.Write([]byte(s))
		zw.Close()
		return out.String()
	}
	blob := string(appendEntryHead(nil, object.Blob, 10)) + deflate("0123456789")
	delta := "\x0a\x05\x90\x02\x03new"
	self := strings.Repeat("\x0c", idSize) // the id that stands for offset 12
	f.Add([]byte(blob))
	f.Add([]byte(blob + string([]byte{0x60 | byte(len(delta)), byte(len(blob))}) + deflate(delta)))
	f.Add([]byte(blob + string([]byte{0x70 | byte(len(delta))}) + self + deflate(delta)))
	f.Add([]byte(string([]byte{0x70 | byte(len(delta))}) + self + deflate(delta)))
	f.Add([]byte(string(appendEntryHead(nil, object.Blob, 1<<40)) + deflate("short")))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > fuzzMost {
			return
		}
		data = append([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\xff"), data...)
		p := New(filepath.Join("no", "such", "store"), "pack-fuzz")
		// The object whose id is a byte repeated is said to lie at that offset.
		var rows []Row
		for off := range 256 {
			rows = append(rows, Row{ID: object.ID(bytes.Repeat([]byte{byte(off)}, idSize)), Off: int64(off)})
		}
		idx, err := encodeIndex(rows, [sha1.Size]byte{}, offsetBit)
		must(t, err)
		x, err := openIndex(bytes.NewReader(idx), int64(len(idx)))
		must(t, err)
		p.idx.Store(x)
		p.body.Store(&Body{Src: bytes.NewReader(data), End: int64(len(data))})
		var b Bases
		for off := int64(0); off < min(int64(len(data))+2, 64); off++ {
			o := b.At(p, off)
			kind, content, err := o.Read()
			kind2, size, err2 := o.Stat()
			if err == nil && (err2 != nil || kind != kind2 || int64(len(content)) != size) {
				t.Fatalf("entry at %d reads as %v of %d bytes, stat says %v, %d, %v", off, kind, len(content), kind2, size, err2)
			}
			if err == nil && (kind < object.Commit || kind > object.Tag) {
				t.Fatalf("entry at %d is of %v", off, kind)
			}
		}
		checkEntries(data, rows)
		parseMidxNames(data)
	})
}
