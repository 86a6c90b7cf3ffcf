package odb

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

// FuzzPackIndex reads hostile indexes, in memory and from the file. What is found
// must be consistent, and encoding what was read gives an index that says the same.
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
		var rows []row
		for pos := range x.n {
			id, err := x.id(pos)
			must(t, err)
			off, ok, err := x.find(id)
			off2, ok2, err2 := inFile.find(id)
			if ok && off < 0 || ok && err != nil || ok2 && off2 < 0 || ok2 && err2 != nil {
				t.Fatalf("found %s at %d, %v; %d, %v", id, off, err, off2, err2)
			}
		}
		err = x.each(func(r row) { rows = append(rows, r) })
		n := 0
		if err2 := inFile.each(func(row) { n++ }); (err == nil) != (err2 == nil) || n != len(rows) {
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
			if _, ok, err := y.find(r.id); !ok || err != nil {
				t.Fatalf("what we wrote lacks %s: %v", r.id, err)
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
		db := &DB{dir: filepath.Join("no", "such", "store")}
		p := newPack(db.dir, "pack-fuzz")
		// The object whose id is a byte repeated is said to lie at that offset.
		var rows []row
		for off := range 256 {
			rows = append(rows, row{id: object.ID(bytes.Repeat([]byte{byte(off)}, idSize)), off: int64(off)})
		}
		idx, err := encodeIndex(rows, [sha1.Size]byte{}, offsetBit)
		must(t, err)
		x, err := openIndex(bytes.NewReader(idx), int64(len(idx)))
		must(t, err)
		p.idx.Store(x)
		p.body.Store(&packBody{src: bytes.NewReader(data), end: int64(len(data))})
		db.packs.Store(&packSet{packs: []*pack{p}})
		for off := int64(0); off < min(int64(len(data))+2, 64); off++ {
			o := packed{db, place{p, off}}
			kind, content, err := o.read()
			kind2, size, err2 := o.stat()
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

// FuzzLoose reads hostile loose objects.
func FuzzLoose(f *testing.F) {
	for _, s := range []string{"blob 5\x00hello", "blob 0\x00", "tree 3\x00abc", "blob 99999999999999999999\x00", "blob 6\x00hello", "blob 5", ""} {
		var out bytes.Buffer
		zw := zlib.NewWriter(&out)
		zw.Write([]byte(s))
		zw.Close()
		f.Add(out.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > fuzzMost {
			return
		}
		z := newInflater(bytes.NewReader(data), 0, int64(len(data)))
		defer z.release()
		kind, size, err := looseHead(z)
		if err != nil {
			return
		}
		content, err := z.contents(size)
		if err == nil && (int64(len(content)) != size || kind < object.Commit || kind > object.Tag) {
			t.Fatalf("%v of %d bytes instead of %d", kind, len(content), size)
		}
	})
}

// FuzzJournal: what is accepted is what was written, under that name.
func FuzzJournal(f *testing.F) {
	f.Add("j", []byte(journalMagic+journalSum("j", []byte("data"))+"\ndata"))
	f.Add("other", []byte(journalMagic+journalSum("j", []byte("data"))+"\ndata"))
	f.Add("j", []byte(journalMagic+journalSum("j", nil)+"\n"))
	f.Fuzz(func(t *testing.T, name string, file []byte) {
		data, err := decodeJournal(name, file)
		if err == nil && string(file) != journalMagic+journalSum(name, data)+"\n"+string(data) {
			t.Fatalf("accepted %q as %q", file, data)
		}
		if again, err := decodeJournal(name, append([]byte(journalMagic+journalSum(name, file)+"\n"), file...)); err != nil || !bytes.Equal(again, file) {
			t.Fatalf("what was written is refused: %v", err)
		}
		if checkJournalName(name) == nil && (!filepath.IsLocal(name) || filepath.Base(name) != name) {
			t.Fatalf("%q passes as the name of a journal", name)
		}
		decodeHolder(file)
	})
}

// FuzzRef reads hostile refs, packed refs and names.
func FuzzRef(f *testing.F) {
	id := strings.Repeat("0123456789", 4)
	f.Add("refs/cairn/a", id+"\n")
	f.Add("refs/cairn/a", "ref: refs/cairn/b\n")
	f.Add("refs/cairn/../../a", "# pack-refs with: peeled fully-peeled sorted \n"+id+" refs/cairn/a\n^"+id+"\n")
	f.Add("refs/cairn/a", id+" refs/cairn/a\n"+id+" refs/cairn/b\n"+id+" refs/cairn/c")
	f.Fuzz(func(t *testing.T, name, file string) {
		if got, target, err := parseRef([]byte(file)); err == nil {
			if (target == "") == got.IsZero() {
				t.Fatalf("%q is %s and %q", file, got, target)
			}
			if target != "" && checkRefName(target) != nil {
				t.Fatalf("%q leads to %q", file, target)
			}
		}
		if checkRefName(name) == nil && !filepath.IsLocal(filepath.FromSlash(name)) {
			t.Fatalf("%q leads out of the store", name)
		}
		refs := parsePackedRefs(file)
		for _, r := range refs {
			if (r.Err == nil) == (r.ID.IsZero()) || r.Err == nil && checkRefName(r.Name) != nil {
				t.Fatalf("packed ref %+v", r)
			}
		}
		if checkRefName(name) != nil {
			return
		}
		rest, found := withoutRef(file, name)
		left := parsePackedRefs(rest)
		if _, there := left.find(name); there {
			t.Fatalf("%s is still in %q", name, rest)
		}
		n := 0
		for _, r := range refs {
			if r.Name == name {
				n++
			}
		}
		if len(left) != len(refs)-n || found != (n > 0) {
			t.Fatalf("removing %s leaves %d of %d refs", name, len(left), len(refs))
		}
	})
}
