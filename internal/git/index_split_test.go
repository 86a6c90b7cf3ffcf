package git

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// A split index is edited at random; the entries stay those that git reads.
func TestIndexSplit(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	for _, version := range []string{"2", "4"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			o := o.For(t)
			dir := o.Init(tempDir(t))
			o.In(dir, "config", "splitIndex.maxPercentChange", "100")
			o.In(dir, "config", "index.version", version)
			for i := range 200 {
				write(t, filepath.Join(dir, fmt.Sprintf("d%d", i%9), fmt.Sprintf("f%03d", i)), fmt.Sprint(i))
			}
			o.In(dir, "add", "-A", ".")
			o.In(dir, "update-index", "--split-index")
			compareIndex(t, o, dir, false)
			rng := rand.New(rand.NewPCG(11, 11))
			for range gittest.Rounds(12) {
				gittest.Mutate(t, rng, dir, 1+rng.IntN(8))
				o.In(dir, "add", "-A", ".")
				x := compareIndex(t, o, dir, false)
				if x.files[1].data == nil {
					t.Fatal("the index is not split")
				}
			}
			o.In(dir, "update-index", "--no-split-index")
			if x := compareIndex(t, o, dir, false); x.files[1].data != nil {
				t.Fatal("the index is still split")
			}
		})
	}
}

// Everything of the shared index deleted, and everything replaced: runs of ones.
func TestIndexSplitWhole(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := o.Init(tempDir(t))
	o.In(dir, "config", "splitIndex.maxPercentChange", "100")
	for i := range 1000 {
		write(t, filepath.Join(dir, fmt.Sprintf("f%04d", i)), "x")
	}
	o.In(dir, "add", "-A", ".")
	o.In(dir, "update-index", "--split-index")
	o.In(dir, "update-index", "--refresh")
	for i := range 1000 {
		write(t, filepath.Join(dir, fmt.Sprintf("f%04d", i)), "changed")
	}
	o.In(dir, "add", "-A", ".")
	compareIndex(t, o, dir, false)
	o.In(dir, "rm", "-q", "-r", "--cached", ".")
	if x := compareIndex(t, o, dir, false); x.Len() != 0 {
		t.Errorf("%d entries, want none", x.Len())
	}
	write(t, filepath.Join(dir, "new"), "x")
	o.In(dir, "add", "new")
	compareIndex(t, o, dir, false)
}

// A shared index that is missing or another one is no missing index.
func TestIndexSplitBroken(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := committed(t, o, tempDir(t))
	o.In(dir, "update-index", "--split-index")
	shared, err := filepath.Glob(filepath.Join(dir, ".git", "sharedindex.*"))
	if err != nil || len(shared) != 1 {
		t.Fatal(shared, err)
	}
	index := filepath.Join(dir, ".git", "index")
	data, err := os.ReadFile(shared[0])
	if err != nil {
		t.Fatal(err)
	}
	skipped := bytes.Clone(data)
	clear(skipped[len(skipped)-20:])
	split, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"skipped": skipped, "itself": split, "empty": {}} {
		if err := os.Remove(shared[0]); err != nil {
			t.Fatal(err)
		}
		write(t, shared[0], string(content))
		if x, err := ReadIndex(index, false); err == nil {
			t.Errorf("shared index %s: %d entries, want an error", name, x.Len())
		}
	}
	if err := os.Remove(shared[0]); err != nil {
		t.Fatal(err)
	}
	if x, err := ReadIndex(index, false); x != nil || err == nil || errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "sharedindex.") {
		t.Errorf("missing shared index gives %v, %v", x, err)
	}
}

// bitmap encodes up to 64 bits.
func bitmap(bits uint64) string {
	b := []byte{0, 0, 0, 64, 0, 0, 0, 2}
	b = binary.BigEndian.AppendUint64(b, 1<<33)
	b = binary.BigEndian.AppendUint64(b, bits)
	return string(append(b, 0, 0, 0, 0))
}

func TestIndexSplitJoin(t *testing.T) {
	t.Parallel()
	entry := func(name string) []byte { return plainEntry(regular, 0, name) }
	assumed := func(name string) []byte { return plainEntry(regular, flagAssumeValid, name) }
	shared := indexBytes(concat(header(2, 3), entry("a"), entry("b"), entry("c")), true)
	link := func(rest string) []byte { return extension("link", string(shared[len(shared)-20:])+rest) }
	for name, test := range map[string]struct {
		entries [][]byte
		link    []byte
		want    string // names, "*" after those that are assumed valid; "" for an error
	}{
		"no bitmaps":          {nil, link(""), "a b c"},
		"nothing":             {nil, link(bitmap(0) + bitmap(0)), "a b c"},
		"delete":              {nil, link(bitmap(0b101) + bitmap(0)), "b"},
		"replace":             {[][]byte{assumed(""), assumed("")}, link(bitmap(0) + bitmap(0b101)), "a* b c*"},
		"replace with names":  {[][]byte{assumed("a")}, link(bitmap(0) + bitmap(1)), "a* b c"},
		"replace and delete":  {[][]byte{assumed(""), assumed("")}, link(bitmap(1) + bitmap(0b11)), "b* c"},
		"add":                 {[][]byte{assumed("0"), assumed("bb"), assumed("d")}, link(bitmap(0) + bitmap(0)), "0* a b bb* c d*"},
		"add one that exists": {[][]byte{assumed("b")}, link(bitmap(0) + bitmap(0)), "a b* c"},
		"replace and add":     {[][]byte{assumed(""), assumed("bb")}, link(bitmap(0b100) + bitmap(0b010)), "a b* bb*"},
		"another name":        {[][]byte{assumed("x")}, link(bitmap(0) + bitmap(1)), ""},
		"too few":             {[][]byte{assumed("")}, link(bitmap(0) + bitmap(0b11)), ""},
		"added without name":  {[][]byte{assumed("")}, link(bitmap(0) + bitmap(0)), ""},
		"added out of order":  {[][]byte{assumed("e"), assumed("d")}, link(bitmap(0) + bitmap(0)), ""},
		"delete beyond":       {nil, link(bitmap(0b1000) + bitmap(0)), ""},
		"replace beyond":      {[][]byte{assumed("")}, link(bitmap(0) + bitmap(0b1000)), ""},
		"bitmap cut off":      {nil, link(bitmap(0)[:20] + bitmap(0)), ""},
		"one bitmap":          {nil, link(bitmap(0)), ""},
		"too much":            {nil, link(bitmap(0) + bitmap(0) + "x"), ""},
	} {
		main := indexBytes(concat(header(2, uint32(len(test.entries))), concat(test.entries...), test.link), true)
		x, err := fuzzIndex(main, shared, 20)
		var got []string
		if err == nil {
			for e := range x.All() {
				if e.AssumeValid {
					e.Name += "*"
				}
				got = append(got, e.Name)
			}
		}
		if strings.Join(got, " ") != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%s: %q, %v, want %q", name, got, err, test.want)
		}
	}
}

func TestEWAH(t *testing.T) {
	t.Parallel()
	encode := func(words ...uint64) ewah {
		var b []byte
		for _, w := range words {
			b = binary.BigEndian.AppendUint64(b, w)
		}
		return b
	}
	marker := func(ones bool, run, literals uint64) uint64 {
		w := run<<1 | literals<<33
		if ones {
			w |= 1
		}
		return w
	}
	for name, test := range map[string]struct {
		bitmap ewah
		n      int
		want   []int // nil: an error
	}{
		"empty":             {nil, 100, []int{}},
		"nothing":           {encode(marker(false, 0, 0)), 100, []int{}},
		"literal":           {encode(marker(false, 0, 1), 0b1001), 10, []int{0, 3}},
		"after a run":       {encode(marker(false, 2, 1), 1), 129, []int{128}},
		"ones":              {encode(marker(true, 1, 1), 1), 65, append(upTo(64), 64)},
		"two markers":       {encode(marker(true, 1, 0), marker(false, 1, 1), 2), 130, append(upTo(64), 129)},
		"long run of zeros": {encode(marker(false, 1<<32-1, 0)), 10, []int{}},
		"zero beyond":       {encode(marker(false, 9, 1), 0), 10, []int{}},
		"one too many":      {encode(marker(false, 0, 1), 1<<10), 10, nil},
		"ones beyond":       {encode(marker(true, 1, 0)), 63, nil},
		"many ones":         {encode(marker(true, 1<<32-1, 0)), 64, nil},
		"word beyond":       {encode(marker(false, 1, 1), 1), 64, nil},
		"missing literals":  {encode(marker(false, 0, 2), 1), 64, nil},
		"no entries":        {encode(marker(true, 1, 0)), 0, nil},
	} {
		set, err := test.bitmap.expand(test.n)
		if (err != nil) != (test.want == nil) {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		var got []int
		for i := range test.n {
			if err == nil && set.has(i) {
				got = append(got, i)
			}
		}
		if err == nil && !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func upTo(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}
