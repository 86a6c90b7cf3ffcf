package pack

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// manyRows returns n rows with ids that are spread evenly, and the wildest offsets.
func manyRows(n int) []Row {
	rows := make([]Row, n)
	off := int64(HeadSize)
	for i := range rows {
		rows[i] = Row{ID: object.Sum(object.Blob, fmt.Append(nil, i)), CRC: uint32(i) * 2654435761, Off: off}
		switch i % 1000 {
		case 500:
			off += 1 << 31
		case 700:
			off += 1 << 40
		default:
			off += int64(i%50 + 1)
		}
	}
	return rows
}

// Small indexes are searched in memory, large ones in the file: both find the same.
func TestIndexSearch(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 255, 256, 257, 5000, 60_000} {
		rows := manyRows(n)
		data, err := encodeIndex(slices.Clone(rows), [sha1.Size]byte{1, 2, 3}, offsetBit)
		must(t, err)
		x, err := openIndex(bytes.NewReader(data), int64(len(data)))
		must(t, err)
		if inMemory := x.data != nil; inMemory != (len(data) <= idxInMemory) {
			t.Fatalf("%d objects: in memory: %v", n, inMemory)
		}
		if x.N != n || x.packSum != [sha1.Size]byte{1, 2, 3} {
			t.Fatalf("%d objects: %d, %x", n, x.N, x.packSum)
		}
		for _, r := range rows {
			off, ok, err := x.Find(r.ID)
			if !ok || off != r.Off || err != nil {
				t.Fatalf("%d objects: %s is at %d, %v, %v; want %d", n, r.ID, off, ok, err, r.Off)
			}
			near := r.ID
			near[19]++
			if _, ok, err := x.Find(near); ok || err != nil {
				t.Fatalf("%d objects: found what is not there: %v", n, err)
			}
		}
		for _, id := range []object.ID{{}, object.ID(bytes.Repeat([]byte{0xff}, 20))} {
			if _, ok, err := x.Find(id); ok || err != nil {
				t.Fatalf("%d objects: found %s, %v", n, id, err)
			}
		}
		got, err := x.Rows()
		if err != nil || !slices.Equal(got, rows) {
			t.Fatalf("%d objects: rows differ, %v", n, err)
		}
	}
}

// Looking up what a large index lacks is one read, also of the disk's: most objects
// that are looked up before they are stored are new.
func TestIndexSearchReads(t *testing.T) {
	t.Parallel()
	rows := manyRows(60_000)
	for i := range rows {
		rows[i].Off = int64(HeadSize + i) // the large ones take a read more
	}
	data, err := encodeIndex(slices.Clone(rows), [sha1.Size]byte{}, offsetBit)
	must(t, err)
	src := &countingReaderAt{r: bytes.NewReader(data)}
	x, err := openIndex(src, int64(len(data)))
	must(t, err)
	for _, c := range []struct {
		what string
		most int // reads a look-up, in hundredths
		flip byte
	}{{"present", 205, 0}, {"absent", 105, 0xff}} {
		src.n = 0
		for _, r := range rows {
			id := r.ID
			id[19] ^= c.flip
			if _, ok, err := x.Find(id); err != nil || ok != (c.flip == 0) {
				t.Fatal(c.what, ok, err)
			}
		}
		if src.n*100 > c.most*len(rows) {
			t.Errorf("%s: %d reads for %d look-ups", c.what, src.n, len(rows))
		}
	}
}

// Ids that are not spread evenly, as an attacker could make them, cost more reads and are
// found nevertheless.
func TestIndexSearchUneven(t *testing.T) {
	t.Parallel()
	rows := manyRows(20_000)
	for i := range rows {
		if i%10 > 0 {
			copy(rows[i].ID[:], "the same")
		}
	}
	data, err := encodeIndex(slices.Clone(rows), [sha1.Size]byte{}, offsetBit)
	must(t, err)
	x, err := openIndex(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	for _, r := range rows {
		if off, ok, err := x.Find(r.ID); !ok || off != r.Off || err != nil {
			t.Fatalf("%s is at %d, %v, %v; want %d", r.ID, off, ok, err, r.Off)
		}
		near := r.ID
		near[19]++
		if _, ok, err := x.Find(near); ok || err != nil {
			t.Fatalf("found what is not there: %v", err)
		}
	}
}

type countingReaderAt struct {
	r io.ReaderAt
	n int
}

func (c *countingReaderAt) ReadAt(p []byte, off int64) (int, error) {
	c.n++
	return c.r.ReadAt(p, off)
}

// The index that git makes of a pack of ours is ours, bit for bit, whatever the
// offset from which it takes the table of large ones.
func TestIndexIsGits(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := t.TempDir()
	p, _ := blobPack(t, dir, "blob", 0, 500)
	defer p.Close()
	stem := p.Stem
	f, err := os.Open(stem + IndexExt)
	must(t, err)
	defer f.Close()
	ours, err := io.ReadAll(f)
	must(t, err)
	x, err := openIndex(bytes.NewReader(ours), int64(len(ours)))
	must(t, err)
	rows, err := x.Rows()
	must(t, err)
	for _, large := range []int64{offsetBit, 0x1000, 1} {
		made := filepath.Join(t.TempDir(), "made.idx")
		o.In(dir, "index-pack", fmt.Sprintf("--index-version=2,%#x", large-1), "-o", made, stem+Ext)
		want, err := os.ReadFile(made)
		must(t, err)
		got, err := encodeIndex(rows, x.packSum, large)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("large offsets from %d: %d bytes, %v, want %d", large, len(got), err, len(want))
		}
		if large == offsetBit && !bytes.Equal(ours, want) {
			t.Error("the index in the store differs")
		}
	}
}

func TestIndexFaults(t *testing.T) {
	t.Parallel()
	good, err := encodeIndex(manyRows(600), [sha1.Size]byte{}, offsetBit)
	must(t, err)
	seal := func(data []byte) []byte {
		sum := sha1.Sum(data[:len(data)-sha1.Size])
		return append(data[:len(data)-sha1.Size], sum[:]...)
	}
	tests := map[string]func(data []byte) []byte{
		"empty":               func([]byte) []byte { return nil },
		"head only":           func(data []byte) []byte { return data[:IndexHeadSize] },
		"version 1":           func(data []byte) []byte { return seal(data[8:]) },
		"version 3":           func(data []byte) []byte { data[7] = 3; return seal(data) },
		"decreasing fan-out":  func(data []byte) []byte { copy(data[8+4*100:], "\xff\xff\xff\xff"); return seal(data) },
		"more objects":        func(data []byte) []byte { copy(data[8+4*255:], "\x00\x00\x10\x00"); return seal(data) },
		"2^31 objects":        func(data []byte) []byte { copy(data[8+4*255:], "\x80\x00\x00\x00"); return seal(data) },
		"a byte missing":      func(data []byte) []byte { return seal(data[1:]) },
		"too many offsets":    func(data []byte) []byte { return seal(append(data, make([]byte, 8*601)...)) },
		"wrong checksum":      func(data []byte) []byte { data[IndexHeadSize] ^= 1; return data },
		"checksum is missing": func(data []byte) []byte { return data[:len(data)-sha1.Size] },
	}
	for name, harm := range tests {
		data := harm(bytes.Clone(good))
		if _, err := openIndex(bytes.NewReader(data), int64(len(data))); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		// The file may be shorter than it was when it was opened.
		if len(data) > 100 {
			if _, err := openIndex(bytes.NewReader(data[:len(data)-50]), int64(len(data))); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s, cut off: %v", name, err)
			}
		}
	}
}

func TestIndexOffsetFaults(t *testing.T) {
	t.Parallel()
	rows := manyRows(3)
	for name, off := range map[string]uint32{"beyond the table": offsetBit | 1, "far beyond": math.MaxUint32} {
		data, err := encodeIndex(slices.Clone(rows), [sha1.Size]byte{}, rows[2].Off)
		must(t, err)
		x, err := openIndex(bytes.NewReader(data), int64(len(data)))
		must(t, err)
		for i := range 3 {
			binary.BigEndian.PutUint32(x.data[IndexHeadSize+3*(idSize+4)+4*i:], off)
		}
		if _, _, err := x.Find(rows[0].ID); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	data, err := encodeIndex([]Row{{ID: rows[0].ID, Off: math.MinInt64}}, [sha1.Size]byte{}, math.MinInt64)
	must(t, err)
	x, err := openIndex(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	if _, _, err := x.Find(rows[0].ID); !errors.Is(err, ErrCorrupt) {
		t.Errorf("negative: %v", err)
	}
}

func TestOwnNameIsNotGits(t *testing.T) {
	t.Parallel()
	p := writePack(t, t.TempDir(), "x")
	defer p.Close()
	name := p.Name()
	data, err := os.ReadFile(p.Stem + Ext)
	must(t, err)
	sum := sha1.Sum(data[:len(data)-sha1.Size])
	if !bytes.Equal(data[len(data)-sha1.Size:], sum[:]) {
		t.Error("pack with a wrong checksum")
	}
	if name == Prefix+hex.EncodeToString(sum[:]) || name != OwnName(sum) || len(name) != len("pack-")+40 {
		t.Errorf("name %s of a pack with checksum %x", name, sum)
	}
}

func TestEntryHead(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 1, 15, 16, 2047, 2048, 1<<31 - 1, 1 << 32, 1<<60 - 1} {
		head := appendEntryHead(nil, object.Tree, size)
		e, n, err := ParseEntry(append(head, "rest"...), 12)
		if err != nil || n != len(head) || e.Kind != object.Tree || e.Size != size {
			t.Errorf("%d: %v, %d, %v", size, e, n, err)
		}
	}
	tests := []struct {
		name string
		head string
		off  int64
		want Entry
		n    int // 0: an error
	}{
		{"empty", "", 12, Entry{}, 0},
		{"kind 0", "\x05", 12, Entry{}, 0},
		{"kind 5", "\x55", 12, Entry{}, 0},
		{"blob of 5", "\x35xyz", 12, Entry{Kind: object.Blob, Size: 5}, 1},
		{"size that is cut off", "\xb5\x80", 12, Entry{}, 0},
		{"endless size", "\xb5" + strings.Repeat("\x80", 20), 12, Entry{}, 0},
		{"size of 64 bits", "\xbf\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 12, Entry{}, 0},
		{"delta 100 bytes back", "\x65\x64", 200, Entry{Kind: OfsDelta, Size: 5, BaseOff: 100}, 2},
		{"delta 228 bytes back", "\x65\x80\x64", 300, Entry{Kind: OfsDelta, Size: 5, BaseOff: 72}, 3},
		{"delta against itself", "\x65\x00", 200, Entry{}, 0},
		{"delta into the head", "\x65\x64", 111, Entry{}, 0},
		{"delta against the first", "\x65\x64", 112, Entry{Kind: OfsDelta, Size: 5, BaseOff: 12}, 2},
		{"delta that is cut off", "\x65\x80", 200, Entry{}, 0},
		{"endless distance", "\x65" + strings.Repeat("\xff", 25), 1 << 62, Entry{}, 0},
		{"delta by id", "\x7500000000000000000000", 12, Entry{Kind: RefDelta, Size: 5, BaseID: object.ID([]byte("00000000000000000000"))}, 21},
		{"delta by half an id", "\x750000000000", 12, Entry{}, 0},
	}
	for _, tt := range tests {
		e, n, err := ParseEntry([]byte(tt.head), tt.off)
		switch {
		case tt.n == 0 && !errors.Is(err, ErrCorrupt):
			t.Errorf("%s: %v, %v", tt.name, e, err)
		case tt.n > 0 && (err != nil || e != tt.want || n != tt.n):
			t.Errorf("%s: %v, %d, %v; want %v, %d", tt.name, e, n, err, tt.want, tt.n)
		}
	}
}

func TestApplyDelta(t *testing.T) {
	t.Parallel()
	base := "0123456789abcdef"
	big := strings.Repeat("x", 0x10000+5)
	tests := []struct {
		name, base, delta, want string // want "!": an error
	}{
		{"copy all", base, "\x10\x10\x90\x10", base},
		{"copy a part", base, "\x10\x04\x91\x0a\x04", "abcd"},
		{"insert", base, "\x10\x03\x03new", "new"},
		{"copy, insert, copy", base, "\x10\x07\x90\x02\x03new\x91\x0e\x02", "01newef"},
		{"nothing", base, "\x10\x00", ""},
		{"copy of size 0 means 65536", big, "\x85\x80\x04\x80\x80\x04\x80", big[:0x10000]},
		{"copy with all arguments", big, "\x85\x80\x04\x02\xff\x01\x01\x00\x00\x02\x00\x00", big[1:3]},
		{"empty", base, "", "!"},
		{"one size", base, "\x10", "!"},
		{"other base", base, "\x11\x01\x01x", "!"},
		{"reserved", base, "\x10\x01\x00", "!"},
		{"insertion cut off", base, "\x10\x03\x03ne", "!"},
		{"copy cut off", base, "\x10\x03\x91\x0a", "!"},
		{"copy from beyond", base, "\x10\x04\x91\x0d\x04", "!"},
		{"too much", base, "\x10\x02\x03new", "!"},
		{"too little", base, "\x10\x04\x03new", "!"},
		{"endless size", base, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "!"},
		{"above the limit", base, "\x10\xff\xff\xff\x7f\x90\x10", "!"},
	}
	for _, tt := range tests {
		got, err := applyDelta([]byte(tt.base), []byte(tt.delta), 1<<20)
		if tt.want == "!" {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: %q, %v", tt.name, got, err)
			}
		} else if err != nil || string(got) != tt.want {
			t.Errorf("%s: %d bytes, %v; want %d", tt.name, len(got), err, len(tt.want))
		}
	}
}

func TestBaseCacheIsBounded(t *testing.T) {
	t.Parallel()
	var c baseCache
	p := New("dir", "pack")
	for i := range 100 {
		c.put(place{p, int64(i)}, object.Blob, make([]byte, baseCacheBytes/10))
		c.put(place{p, 0}, object.Blob, nil) // not taken twice
		if _, _, ok := c.get(place{p, 0}); i > 0 && i < 20 && !ok {
			t.Fatalf("what is used was dropped after %d", i)
		}
	}
	if c.bytes > baseCacheBytes || len(c.items) > 11 || c.order.Len() != len(c.items) {
		t.Errorf("%d bytes in %d", c.bytes, len(c.items))
	}
	if _, _, ok := c.get(place{p, 99}); !ok {
		t.Error("the newest was dropped")
	}
	c.put(place{p, 1000}, object.Blob, make([]byte, baseCacheBytes/2))
	if _, _, ok := c.get(place{p, 1000}); ok {
		t.Error("one base fills half the cache")
	}
}
