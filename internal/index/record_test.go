package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"runtime"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

const someBase = 0x0123456789abcdef

// baseOf makes the file of a base that holds this record, true or not.
func baseOf(rec []byte) []byte {
	data := append(binary.LittleEndian.AppendUint64([]byte(baseMagic), someBase), rec...)
	return binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, crcTable))
}

// deltaOf makes a delta to baseOf that holds these records.
func deltaOf(records ...[]byte) []byte {
	data := binary.LittleEndian.AppendUint64([]byte(deltaMagic), someBase)
	sum := uint32(someBase & 0xffffffff)
	for _, rec := range records {
		sum = crc32.Update(sum, crcTable, rec)
		data = binary.LittleEndian.AppendUint32(data, uint32(len(rec)))
		data = append(binary.LittleEndian.AppendUint32(data, sum), rec...)
	}
	return data
}

func entries(names ...string) (raw []byte) {
	for _, name := range names {
		raw = Append(raw, &Entry{Name: name, Mode: object.Regular})
	}
	return raw
}

func sampleRecord() *record {
	return &record{
		aux: []byte("aux"), packs: []string{"p1", "p2"}, removed: []string{"gone"},
		dirs: []*Dir{
			{Path: "", Tree: object.EmptyTree, Raw: entries("a", "b")},
			{Path: "b", Raw: entries("c"), Seal: Seal{MTime: -1, CTime: 2, Ino: 1<<64 - 1, Rules: 4}},
			{Path: "empty"},
		},
	}
}

func TestRecordSize(t *testing.T) {
	t.Parallel()
	summed := sampleRecord()
	summed.summary = &summary{
		files: 7, perms: map[permKey]int{{object.Regular, 0o644}: 7}, usual: Perms{0o644, 0o755, 0o700}, odd: map[string]struct{}{"a/b": {}},
	}
	patched := sampleRecord()
	patched.patches = []patch{{path: "c", tree: object.EmptyTree, seal: Seal{Ino: 5}, gone: []string{"x", "y"}, raw: entries("n")}, {path: "d"}}
	without := sampleRecord().size()
	for name, rec := range map[string]*record{"empty": {}, "sample": sampleRecord(), "with a summary": summed, "with patches": patched} {
		data := rec.append(nil)
		if rec.size() != len(data) {
			t.Errorf("%s: size %d, encoded %d", name, rec.size(), len(data))
		}
		got, err := decodeRecord(data)
		if err != nil || !bytes.Equal(got.append(nil), data) {
			t.Errorf("%s: decoded %+v, %v", name, got, err)
		}
		for n := range data {
			if rec == patched && n == without {
				continue // a whole record by itself: its length tells
			}
			if _, err := decodeRecord(data[:n]); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s: the first %d bytes: %v, want ErrMalformed", name, n, err)
			}
		}
		if _, err := decodeRecord(append(data, 0)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: with a byte more: %v, want ErrMalformed", name, err)
		}
	}
}

func TestHostileBlocks(t *testing.T) {
	t.Parallel()
	edit := func(at int, value byte) []byte {
		raw := entries("a", "b")
		raw[at] = value
		return raw
	}
	for name, raw := range map[string][]byte{
		"one byte":        {0},
		"no name":         entries("a")[:offName],
		"cut in fields":   entries("a")[:offName-1],
		"cut in name":     entries("ab")[:offName+1],
		"byte behind":     append(entries("a"), 0),
		"half behind":     append(entries("a"), entries("b")[:offName]...),
		"cut before NUL":  entries("ab")[:offName+2],
		"no NUL":          edit(offName+1, 'a'),
		"no NUL at end":   edit(2*(offName+2)-1, 'a'),
		"empty name":      edit(offLen, 0),
		"name too long":   edit(offLen+1, 0xff),
		"name over next":  edit(offLen, 2),
		"unknown mode":    edit(offMode, byte(len(modeCodes))),
		"mode 255":        edit(offMode, 0xff),
		"mode of second":  edit(offName+1+nulLen+offMode, 0xff),
		"unsorted":        entries("b", "a"),
		"twice":           entries("a", "a"),
		"shorter behind":  entries("ab", "a"),
		"unsigned order":  entries("\xff", "a"),
		"directory order": entries("a.", "a-"),
	} {
		if err := checkBlock(raw); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, want ErrMalformed", name, err)
		}
		data := (&record{dirs: []*Dir{{Raw: raw}}}).append(nil)
		if err := New().decodeBase(baseOf(data)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s in a base: %v, want ErrMalformed", name, err)
		}
	}
	for name, raw := range map[string][]byte{"none": nil, "bytes in order": entries("\x00", "a", "a\x00", "a-", "a.", "a/", "\xff")} {
		if err := checkBlock(raw); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHostilePaths: a path that continues more than there is, or is cut off, makes the record malformed.
func TestHostilePaths(t *testing.T) {
	for name, data := range map[string][]byte{
		"continues nothing":   {1, 0, 0, 0x80, 1, 0, 0, 0, 'a'},
		"continues the most":  {0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 'a'},
		"no rest":             {0, 0, 0, 0x80},
		"rest longer than is": {0, 0, 0, 0x80, 2, 0, 0, 0, 'a'},
		"half a length":       {0, 0},
	} {
		r := reader{data: data}
		if path := r.path(); path != "" || !r.short {
			t.Errorf("%s: %q", name, path)
		}
	}
}

// TestHalfRecord: of a record that is malformed in the middle nothing counts,
// although its checksum is right.
func TestHalfRecord(t *testing.T) {
	t.Parallel()
	first := sampleRecord()
	second := &record{
		aux: []byte("new"), packs: []string{"p3"}, removed: []string{"b"},
		dirs: []*Dir{{Path: "", Raw: entries("z")}, {Path: "new"}, {Path: "bad", Raw: []byte("bad")}},
	}
	third := &record{aux: []byte("later")}
	x := New()
	if err := x.decodeBase(baseOf(first.append(nil))); err != nil {
		t.Fatal(err)
	}
	x.replay(deltaOf(second.append(nil), third.append(nil)))
	if len(x.Dirs) != 3 || x.Lookup("b") == nil || x.Lookup("b/c") == nil || string(x.Aux) != "aux" || len(x.Packs) != 2 {
		t.Errorf("half of a record was applied: %+v", x)
	}
	if x.tailLen != headerLen || x.tailSum != uint32(someBase&0xffffffff) {
		t.Errorf("the next record would go to %d", x.tailLen)
	}
}

// TestFalseLengths writes extreme numbers over everything that could be a length.
// None may make Load allocate much more than the file is long.
func TestFalseLengths(t *testing.T) {
	sample := sampleRecord()
	x := New()
	for _, d := range append(sample.dirs, &Dir{Path: "odd", Raw: Append(nil, &Entry{Name: "fifo", Skip: Special})}) {
		x.Put(d)
	}
	sample.summary = x.summarise(Perms{File: 0o644})
	rec := sample.append(nil)
	for at := 0; at+4 <= len(rec); at++ {
		behind := uint32(len(rec) - at - 4)
		for _, n := range []uint32{1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 20, behind, behind + 1, behind / 4} {
			hostile := withLength(rec, at, n)
			checkHostile(t, baseOf(hostile), nil)
			checkHostile(t, baseOf(rec), deltaOf(hostile))
		}
	}
	delta := deltaOf(rec, rec)
	for _, n := range []uint32{1<<32 - 1, 1<<32 - frameLen, 1<<32 - frameLen + 1, 1 << 31, 0} {
		checkHostile(t, baseOf(rec), withLength(delta, headerLen, n))
	}
}

// TestNegativeLengths: a length that is negative as a 32-bit int is too long.
func TestNegativeLengths(t *testing.T) {
	t.Parallel()
	rec := sampleRecord().append(nil)
	for name, at := range map[string]int{
		"aux": 0, "packs": 7, "a pack": 11, "summary": 23, "removed": 27, "a path": 31, "blocks": 39, "path of a block": 43, "entries": 67 + sealSize,
	} {
		if length := binary.LittleEndian.Uint32(rec[at:]); length > 200 {
			t.Fatalf("%s: there is no length at %d: %d", name, at, length)
		}
		for _, n := range []uint32{1 << 31, 1<<32 - 1} {
			if got, err := decodeRecord(withLength(rec, at, n)); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s of length %d: %+v, %v, want ErrMalformed", name, int32(n), got, err)
			}
		}
	}
}

func withLength(data []byte, at int, n uint32) []byte {
	data = bytes.Clone(data)
	binary.LittleEndian.PutUint32(data[at:], n)
	return data
}

// checkHostile loads files of any bytes and uses what was accepted.
func checkHostile(t *testing.T, base, delta []byte) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	x := New()
	err := x.decodeBase(base)
	if err == nil {
		x.replay(delta)
	}
	runtime.ReadMemStats(&after)
	if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(8*(len(base)+len(delta))+16<<10); got > limit {
		t.Fatalf("%d bytes allocated for %d and %d, limit %d", got, len(base), len(delta), limit)
	}
	if err != nil {
		if !errors.Is(err, ErrMalformed) {
			t.Fatalf("%v does not wrap ErrMalformed", err)
		}
		return
	}
	if x.tailLen > int64(len(delta)) || x.tailLen != 0 && x.tailLen < headerLen {
		t.Fatalf("a delta of %d bytes ends at %d", len(delta), x.tailLen)
	}
	use(t, x)
	again := New()
	rec := record{aux: x.Aux, packs: x.Packs, summary: x.summary}
	for _, d := range x.Dirs {
		rec.dirs = append(rec.dirs, d)
	}
	if err := again.decodeBase(baseOf(rec.append(nil))); err != nil || len(again.Dirs) != len(x.Dirs) {
		t.Fatalf("written again: %v", err)
	}
}

// use does with an index all that a scan does.
func use(t *testing.T, x *Index) {
	t.Helper()
	x.Odd(x.Usual(Perms{}))
	for path, d := range x.Dirs {
		var raw []byte
		for rec := range d.All {
			e := rec.Entry()
			raw = Append(raw, &e)
			if found := d.Find(e.Name); &found[0] != &rec[0] {
				t.Fatalf("%q is found elsewhere", e.Name)
			}
			x.Lookup(Join(path, e.Name))
		}
		if len(raw) != len(d.Raw) {
			t.Fatalf("block %q: %d bytes in records, %d in all", path, len(raw), len(d.Raw))
		}
	}
	clone := x.Clone()
	clone.Remove("")
}
