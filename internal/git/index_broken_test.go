package git

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

func TestIndexChecksum(t *testing.T) {
	t.Parallel()
	body := concat(header(2, 1), plainEntry(regular, 0, "a"))
	for _, sum := range []bool{true, false} {
		if x, err := readBytes(t, indexBytes(body, sum)); err != nil || x.Len() != 1 {
			t.Errorf("checksum %v: %v, %v", sum, x, err)
		}
	}
	data := indexBytes(body, true)
	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 0x10
		if x, err := readBytes(t, bad); err == nil {
			t.Errorf("byte %d flipped: %d entries, want an error", i, x.Len())
		}
	}
}

func TestIndexRefuses(t *testing.T) {
	t.Parallel()
	a, b := plainEntry(regular, 0, "a"), plainEntry(regular, 0, "b")
	staged := func(stage uint16) []byte { return plainEntry(regular, stage<<stageShift, "a") }
	for name, body := range map[string][]byte{
		"nothing":             {},
		"signature":           concat([]byte("DIRX"), header(2, 0)[4:]),
		"version 1":           header(1, 0),
		"version 5":           header(5, 0),
		"count":               concat(header(2, 2), a),
		"huge count":          header(2, 1<<32-1),
		"huge count 4":        header(4, 1<<32-1),
		"order":               concat(header(2, 2), b, a),
		"same name":           concat(header(2, 2), a, a),
		"stage order":         concat(header(2, 2), staged(2), staged(1)),
		"mode":                concat(header(2, 1), plainEntry(0o20644, 0, "a")),
		"no mode":             concat(header(2, 1), plainEntry(0, 0, "a")),
		"empty name":          concat(header(2, 1), plainEntry(regular, 0, "")),
		"extended in 2":       concat(header(2, 1), plainEntry(regular, flagExtended, "a")),
		"unknown flags":       concat(header(3, 1), plainEntry(regular, flagExtended, "\x00\x01a")),
		"reserved flag":       concat(header(3, 1), plainEntry(regular, flagExtended, "\x80\x00a")),
		"name too short":      concat(header(2, 1), plainEntry(regular, 5, "")),
		"NUL in name":         concat(header(2, 1), plainEntry(regular, 0, "a\x00b")),
		"unterminated":        concat(header(2, 1), plainEntry(regular, 0, "abcdefghijk")[:72]),
		"padding cut off":     concat(header(2, 1), plainEntry(regular, 0, "ab")[:66]),
		"required extension":  concat(header(2, 1), a, extension("fooo", "x")),
		"odd extension":       concat(header(2, 1), a, extension("[ABC", "x")),
		"extension cut off":   concat(header(2, 1), a, extension("TREE", "xyz")[:9]),
		"extension header":    concat(header(2, 1), a, []byte("TREE")),
		"link too short":      concat(header(2, 1), a, extension("link", "x")),
		"link to nowhere":     concat(header(2, 1), a, extension("link", strings.Repeat("x", 20))),
		"compressed drop":     concat(header(4, 1), plainEntry(regular, 0, "")[:62], []byte("\x01a\x00")),
		"compressed number":   concat(header(4, 1), plainEntry(regular, 0, "")[:62], []byte("\xff\xff\xff\xff\xff\xff\xff")),
		"compressed no end":   concat(header(4, 1), plainEntry(regular, 0, "")[:62], []byte("\x00abc")),
		"compressed empty":    concat(header(4, 1), plainEntry(regular, 0, "")[:62], []byte("\x00\x00")),
		"compressed cut off":  concat(header(4, 2), plainEntry(regular, 0, "")[:62], []byte("\x00a\x00"), make([]byte, 64)),
		"compressed too long": compressedBomb(20000),
	} {
		x, err := readBytes(t, indexBytes(body, false))
		if err == nil {
			t.Errorf("%s: %d entries, want an error", name, x.Len())
		} else if x != nil || !strings.Contains(err.Error(), "index") {
			t.Errorf("%s: %v, %v", name, x, err)
		}
	}
	for name, body := range map[string][]byte{
		"stages":              concat(header(2, 2), staged(1), staged(3)),
		"stage 0 and 1":       concat(header(2, 2), staged(0), staged(1)),
		"unknown extension":   concat(header(2, 1), a, extension("ZZZZ", "x"), extension("sdir", "")),
		"odd permission bits": concat(header(2, 2), plainEntry(0o100664, 0, "a"), plainEntry(0o100775, 0, "b")),
		"no shared index":     concat(header(2, 1), a, extension("link", strings.Repeat("\x00", 20))),
		"reserved bits unset": concat(header(3, 1), plainEntry(regular, flagExtended, "\x60\x00a")[:64], []byte("a\x00\x00\x00\x00\x00\x00\x00")),
	} {
		if name == "reserved bits unset" { // name length counts without the two bytes of flags
			binary.BigEndian.PutUint16(body[12+60:], flagExtended|1)
		}
		if _, err := readBytes(t, indexBytes(body, false)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// compressedBomb is a version 4 index of n entries, each name one byte longer than
// the one before: small on disk, quadratic when written out.
func compressedBomb(n int) []byte {
	b := header(4, uint32(n))
	for range n {
		b = append(b, plainEntry(regular, 0, "")[:62]...)
		b = append(b, 0, 'a', 0)
	}
	return b
}

// Cut off anywhere, an index is an error, not a panic, and not fewer entries.
func TestIndexTruncated(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := o.Init(tempDir(t))
	o.In(dir, "config", "index.version", "4")
	for i := range 20 {
		write(t, filepath.Join(dir, "d", fmt.Sprint(i)), "x")
	}
	o.In(dir, "add", "-A", ".")
	data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	body, path := data[:len(data)-20], filepath.Join(dir, "cut")
	for i := 0; i < len(body); i += gittest.Step() {
		write(t, path, string(indexBytes(body[:i], false)))
		x, err := ReadIndex(path, false)
		if err == nil && x.Len() != 20 { // only optional extensions may be missing
			t.Errorf("cut off at %d of %d: %d entries and no error", i, len(body), x.Len())
		}
	}
}

// sharedMark stands for the name of the shared index in the main one of a fuzz case.
const sharedMark = "<-- shared index -->"

// FuzzReadIndex: whatever the bytes of an index and of the shared one that it names,
// reading them ends in an error or in entries that are in order.
func FuzzReadIndex(f *testing.F) {
	f.Add([]byte{}, []byte{}, false)
	f.Add(syntheticIndex(5), []byte{}, false)
	f.Add(compressedBomb(100), []byte{}, false)
	a, b, none := plainEntry(regular, 0, "a"), plainEntry(uint32(object.Symlink), 0, "b"), plainEntry(regular, 0, "")
	bitmaps := func(deleted, replaced uint64) string { return sharedMark + bitmap(deleted) + bitmap(replaced) }
	shared := concat(header(2, 2), a, b)
	f.Add(concat(header(2, 1), none, extension("link", bitmaps(1, 2))), shared, false)
	f.Add(concat(header(2, 3), none, none, plainEntry(regular, 0, "c"), extension("link", bitmaps(0, 3))), shared, false)
	f.Add(concat(header(4, 0), extension("link", bitmaps(3, 0))), shared, false)
	f.Add(concat(header(2, 1), plainEntry(uint32(object.Dir), 0, "d/"), extension("sdir", "")), []byte{}, true)
	f.Fuzz(func(t *testing.T, body, shared []byte, sha256 bool) {
		if len(body)+len(shared) > 1<<20 {
			return
		}
		size := 20
		if sha256 {
			size = 32
		}
		sum := sha1.Sum(shared)
		body = bytes.ReplaceAll(body, []byte(sharedMark), sum[:])
		x, err := fuzzIndex(append(body, make([]byte, size)...), indexBytes(shared, true), size)
		if err != nil {
			return
		}
		x.Tree(sha256)
		var last IndexEntry
		for e := range x.All() {
			if e.Name == "" || strings.IndexByte(e.Name, 0) >= 0 || e.Name < last.Name || e.Name == last.Name && e.Stage <= last.Stage && last.Name != "" {
				t.Errorf("entry %+v after %+v", e, last)
			}
			if !x.Contains(e.Name) {
				t.Errorf("%q is not found", e.Name)
			}
			last = e
		}
	})
}

// fuzzIndex is ReadIndex without files and checksums.
func fuzzIndex(data, shared []byte, size int) (*Index, error) {
	if len(data) < indexHeader+size {
		return nil, errIndex
	}
	f, err := parseIndexFile(data, size)
	if err != nil {
		return nil, err
	}
	return f.index(func(string) (*indexFile, error) {
		if len(shared) < indexHeader+size {
			return nil, errIndex
		}
		return parseIndexFile(shared, size)
	})
}
