package git

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// askIndex returns what git reads from the index of dir.
func askIndex(t *testing.T, o *gittest.Oracle, dir string, sha256 bool, flags ...string) []IndexEntry {
	t.Helper()
	out := o.In(dir, append(append([]string{}, flags...), "ls-files", "--sparse", "--stage", "--debug", "-z")...)
	var list []IndexEntry
	for out != "" {
		head, rest, ok := strings.Cut(out, "\t")
		name, rest, ok2 := strings.Cut(rest, "\x00")
		if !ok || !ok2 {
			t.Fatalf("cannot read %q", out)
		}
		var e IndexEntry
		var id string
		if _, err := fmt.Sscanf(head, "%o %s %d", &e.Mode, &id, &e.Stage); err != nil {
			t.Fatalf("cannot read %q: %v", head, err)
		}
		if !sha256 {
			e.ID, _ = object.ParseID(id)
		}
		e.Name = name
		var flags uint64
		s := &e.Stat
		_, err := fmt.Sscanf(rest, "  ctime: %d:%d\n  mtime: %d:%d\n  dev: %d\tino: %d\n  uid: %d\tgid: %d\n  size: %d\tflags: %x\n",
			&s.CTimeSec, &s.CTimeNsec, &s.MTimeSec, &s.MTimeNsec, &s.Dev, &s.Ino, &s.UID, &s.GID, &s.Size, &flags)
		if err != nil {
			t.Fatalf("cannot read %q: %v", rest, err)
		}
		e.AssumeValid = flags&flagAssumeValid != 0
		e.IntentToAdd = flags&(flagIntentToAdd<<16) != 0
		e.SkipWorktree = flags&(flagSkipWorktree<<16) != 0
		list = append(list, e)
		for range 5 {
			_, rest, _ = strings.Cut(rest, "\n")
		}
		out = rest
	}
	return list
}

// compareIndex reads the index of dir and compares it with what git reads.
func compareIndex(t *testing.T, o *gittest.Oracle, dir string, sha256 bool) *Index {
	t.Helper()
	x, err := ReadIndex(filepath.Join(dir, ".git", "index"), sha256)
	if err != nil {
		t.Fatal(err)
	}
	want := askIndex(t, o, dir, sha256)
	got := slices.Collect(x.All())
	if len(got) != len(want) || x.Len() != len(want) {
		t.Fatalf("%d entries, git reads %d", len(got), len(want))
	}
	for i, e := range got {
		if e != want[i] {
			t.Errorf("entry %d is %+v, git reads %+v", i, e, want[i])
		}
	}
	checkLookups(t, x)
	checkEncoded(t, o, dir, sha256, x, want)
	return x
}

// checkEncoded fails unless git reads the same entries from an encoded index, without their stat data.
func checkEncoded(t *testing.T, o *gittest.Oracle, dir string, sha256 bool, x *Index, want []IndexEntry) {
	t.Helper()
	path := filepath.Join(dir, ".git", "index")
	aside := filepath.Join(dir, ".git", "index-aside")
	if err := os.Rename(path, aside); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, x.Encode(sha256), 0o600); err != nil {
		t.Fatal(err)
	}
	got := askIndex(t, o, dir, sha256)
	for i := range want {
		want[i].Stat = IndexStat{}
	}
	if !slices.Equal(got, want) {
		t.Errorf("encoded and read by git: %+v, want %+v", got, want)
	}
	if err := os.Rename(aside, path); err != nil {
		t.Fatal(err)
	}
}

// lookup looks a path up in its directory.
func lookup(x *Index, path string) (IndexEntry, bool) {
	dir := dirOf(path)
	at, ok := x.Dir(dir).Lookup([]byte(strings.TrimPrefix(path[len(dir):], "/")))
	if !ok {
		return IndexEntry{}, false
	}
	return x.At(at), true
}

// checkLookups compares the searches with a walk.
func checkLookups(t *testing.T, x *Index) {
	t.Helper()
	names, merged, dirs := map[string]bool{}, map[string]bool{}, map[string]int{}
	for e := range x.All() {
		names[e.Name] = true
		if e.Stage == 0 {
			merged[e.Name] = true
		}
		for i := range e.Name {
			if e.Name[i] == '/' {
				dirs[e.Name[:i]]++
			}
		}
	}
	dirs[""] = x.Len()
	probe := func(p string) {
		if got := x.Contains(p); got != names[p] {
			t.Errorf("Contains(%q) = %v", p, got)
		}
		if got := x.HasUnder(p); got != (dirs[p] > 0) {
			t.Errorf("HasUnder(%q) = %v", p, got)
		}
		n := 0
		for e := range x.Under(p) {
			if p != "" && !strings.HasPrefix(e.Name, p+"/") {
				t.Errorf("Under(%q) yields %q", p, e.Name)
			}
			n++
		}
		if n != dirs[p] {
			t.Errorf("Under(%q) yields %d entries, want %d", p, n, dirs[p])
		}
		if e, ok := lookup(x, p); ok != merged[p] || ok && (e.Name != p || e.Stage != 0) {
			t.Errorf("Lookup(%q) = %+v, %v", p, e, ok)
		}
	}
	for p := range names {
		probe(p)
		probe(p + "x")
		probe(p[:len(p)-1])
	}
	for p := range dirs {
		probe(p)
		probe(p + "0")
		probe(p + "\xff")
	}
}

// fill gives dir many files, some of them hard to name.
func fill(t *testing.T, dir string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	gittest.Create(t, dir, gittest.RandomTree(rng, gittest.RandomOptions{Files: 120, NoIgnoreFiles: true}))
	for _, name := range []string{"a", "a.b", "a-b", "a0/x", "z/a/b", "z/a.b", "z/a0", "z/a/c/d"} {
		write(t, filepath.Join(dir, "sort", name), name)
	}
}

func TestIndexVersions(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	for _, version := range []string{"2", "3", "4"} {
		for _, format := range []string{"sha1", "sha256"} {
			t.Run(version+" "+format, func(t *testing.T) {
				t.Parallel()
				o := o.For(t)
				dir := o.Init(tempDir(t), "--object-format="+format)
				fill(t, dir)
				o.In(dir, "-c", "index.version="+version, "add", "-A", ".")
				o.In(dir, "update-index", "--assume-unchanged", "sort/a", "sort/z/a/b")
				if version != "2" {
					o.In(dir, "update-index", "--skip-worktree", "sort/a.b")
					write(t, filepath.Join(dir, "later"), "x")
					o.In(dir, "add", "-N", "later")
				}
				if got := version4Or(t, dir); got != version {
					t.Fatalf("git wrote version %s", got)
				}
				x := compareIndex(t, o, dir, format == "sha256")
				if e, ok := lookup(x, "sort/a"); !ok || !e.AssumeValid || e.ID.IsZero() != (format == "sha256") {
					t.Errorf("sort/a: %+v, %v", e, ok)
				}
				if _, err := ReadIndex(filepath.Join(dir, ".git", "index"), format != "sha256"); err == nil {
					t.Error("the other object format is taken for this one")
				}
			})
		}
	}
}

// version4Or returns the version of the index of dir.
func version4Or(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(int(data[7]))
}

// feedIndex puts entries into the index of dir that no file backs.
func feedIndex(t *testing.T, o *gittest.Oracle, dir string, names iterator, flags ...string) {
	t.Helper()
	var b strings.Builder
	for name := range names {
		fmt.Fprintf(&b, "100644 %s 0\t%s\x00", object.Sum(object.Blob, []byte(name)), name)
	}
	o.Feed(dir, b.String(), append(flags, "update-index", "-z", "--index-info")...)
}

type iterator = func(yield func(string) bool)

func numbered(n int) iterator {
	return func(yield func(string) bool) {
		for i := range n {
			if !yield(fmt.Sprintf("dir%03d/sub%d/file%05d.txt", i%997, i%7, i)) {
				return
			}
		}
	}
}

// Names of 4095 bytes and more, where the flags no longer tell the length.
func TestIndexLongNames(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	for _, version := range []string{"2", "4"} {
		dir := o.Init(tempDir(t))
		feedIndex(t, o, dir, func(yield func(string) bool) {
			for _, n := range []int{1, 7, 8, 9, 4093, 4094, 4095, 4096, 4097, 9000, 20000} {
				if !yield(strings.Repeat("n", n)) {
					return
				}
			}
		}, "-c", "index.version="+version)
		compareIndex(t, o, dir, false)
	}
}

// Large indexes come in blocks, with tables of their positions. A reader may ignore those, but in
// version 4 names begin again at each block.
func TestIndexInBlocks(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	for _, version := range []string{"2", "4"} {
		dir := o.Init(tempDir(t))
		feedIndex(t, o, dir, numbered(25000), "-c", "index.version="+version, "-c", "index.threads=4")
		data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(data, []byte("IEOT")) || !bytes.Contains(data, []byte("EOIE")) {
			t.Error("git wrote no blocks")
		}
		x, err := ReadIndex(filepath.Join(dir, ".git", "index"), false)
		if err != nil {
			t.Fatal(err)
		}
		want := askIndex(t, o, dir, false)
		if got := slices.Collect(x.All()); !slices.Equal(got, want) {
			t.Errorf("version %s: %d entries differ from git's %d", version, len(got), len(want))
		}
	}
}

func TestIndexConflict(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := committed(t, o, tempDir(t))
	o.In(dir, "checkout", "-q", "-b", "other")
	write(t, filepath.Join(dir, "f"), "theirs\n")
	o.Commit(dir, "theirs")
	o.In(dir, "checkout", "-q", "main")
	write(t, filepath.Join(dir, "f"), "ours\n")
	o.Commit(dir, "ours")
	if _, err := o.Try(dir, "merge", "other"); err == nil {
		t.Fatal("no conflict")
	}
	x := compareIndex(t, o, dir, false)
	if x.Len() != 3 || !x.Contains("f") {
		t.Errorf("%d entries, want three stages of f", x.Len())
	}
	if e, ok := lookup(x, "f"); ok {
		t.Errorf("Lookup finds %+v at stage 0", e)
	}
}

func TestIndexSubmodule(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := o.Init(tempDir(t))
	committed(t, o, filepath.Join(dir, "sub"))
	o.In(dir, "-c", "advice.addEmbeddedRepo=false", "add", "sub")
	x := compareIndex(t, o, dir, false)
	if e, ok := lookup(x, "sub"); !ok || e.Mode != object.Gitlink {
		t.Errorf("sub: %+v, %v", e, ok)
	}
}

func TestIndexSparse(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := o.Init(tempDir(t))
	for _, name := range []string{"top", "in/f", "in/d/f", "out/f", "out/d/f", "outer/x/y/z"} {
		write(t, filepath.Join(dir, name), name)
	}
	o.Commit(dir, "one")
	o.In(dir, "sparse-checkout", "set", "--cone", "--sparse-index", "in")
	x := compareIndex(t, o, dir, false)
	e, ok := lookup(x, "out/")
	if !ok || e.Mode != object.Dir || !e.SkipWorktree {
		t.Errorf("out/: %+v, %v", e, ok)
	}
	if !x.HasUnder("out") || x.Contains("out/f") || !x.Contains("in/f") {
		t.Error("the folded directory is not as it was written")
	}
	o.In(dir, "sparse-checkout", "set", "--cone", "--no-sparse-index", "in")
	if e, ok := lookup(compareIndex(t, o, dir, false), "out/f"); !ok || !e.SkipWorktree {
		t.Errorf("out/f: %+v, %v", e, ok)
	}
}

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

func TestIndexMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x, err := ReadIndex(filepath.Join(dir, "index"), false)
	if !errors.Is(err, os.ErrNotExist) || x == nil || x.Len() != 0 || x.Contains("a") || x.HasUnder("") || x.HasUnder("a") {
		t.Errorf("a missing index gives %v, %v", x, err)
	}
	for range x.All() {
		t.Error("an entry in a missing index")
	}
	if _, err := ReadIndex(dir, false); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory gives %v", err)
	}
	gittest.Create(t, dir, gittest.Tree{"pipe": gittest.FIFO()})
	if _, err := ReadIndex(filepath.Join(dir, "pipe"), false); err == nil {
		t.Error("a FIFO gives no error")
	}
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

// indexBytes writes an index: version, entries and what follows, with a checksum.
func indexBytes(body []byte, sum bool) []byte {
	trailer := make([]byte, 20)
	if sum {
		s := sha1.Sum(body)
		trailer = s[:]
	}
	return append(bytes.Clone(body), trailer...)
}

func readBytes(t testing.TB, data []byte) (*Index, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "index")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return ReadIndex(path, false)
}

func header(version, count uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("DIRC"), version), count)
}

// plainEntry is an entry of version 2 of a given mode, flags and name.
func plainEntry(mode uint32, flags uint16, name string) []byte {
	e := make([]byte, 60)
	binary.BigEndian.PutUint32(e[24:], mode)
	e = binary.BigEndian.AppendUint16(e, flags|uint16(min(len(name), flagNameLen)))
	e = append(e, name...)
	return append(e, make([]byte, 8-len(e)%8)...)
}

func extension(name string, data string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte(name), uint32(len(data))), data...)
}

func concat(parts ...[]byte) []byte { return slices.Concat(parts...) }

const regular = 0o100644

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

func TestIndexAllocations(t *testing.T) {
	x, err := readBytes(t, indexBytes(syntheticIndex(1000), true))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	allocs := testing.AllocsPerRun(10, func() {
		for e := range x.All() {
			n += len(e.Name)
		}
	})
	if allocs > 0 || n == 0 {
		t.Errorf("walking 1000 entries allocates %v times", allocs)
	}
}

// syntheticIndex is the body of an index with n entries of the shape of a real one.
func syntheticIndex(n int) []byte {
	b := header(2, uint32(n))
	names := slices.Sorted(numbered(n))
	for _, name := range names {
		b = append(b, plainEntry(regular, 0, name)...)
	}
	return append(b, extension("TREE", strings.Repeat("x", n*4))...)
}

func TestIndexSignature(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := o.Init(tempDir(t))
	write(t, filepath.Join(dir, "f"), "y")
	o.In(dir, "add", "f") // and no commit, which would add an extension
	path := filepath.Join(dir, ".git", "index")
	sign := func() Signature {
		t.Helper()
		s, err := IndexSignature(path)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := sign()
	if first.Size == 0 || first.MTime == 0 || first.Trailer == ([20]byte{}) || runtime.GOOS == "linux" && (first.CTime == 0 || first.Ino == 0) {
		t.Errorf("signature %+v lacks something", first)
	}
	if sign() != first {
		t.Error("the same file has two signatures")
	}
	// Same size, same mtime, same inode: the checksum still tells.
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	o.In(dir, "update-index", "--cacheinfo", "100644,"+object.Sum(object.Blob, []byte("x")).String()+",f")
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	second := sign()
	second.CTime, second.Ino = first.CTime, first.Ino
	if second == first {
		t.Error("another index has the same signature")
	}
	if second.Trailer = first.Trailer; second != first {
		t.Errorf("the test has changed more than the contents: %+v, %+v", first, second)
	}
	if _, err := IndexSignature(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	write(t, path+"short", "x")
	if s, err := IndexSignature(path + "short"); err != nil || s.Size != 1 {
		t.Errorf("short file: %+v, %v", s, err)
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

func BenchmarkReadIndex(b *testing.B) {
	for _, n := range []int{1000, 80_000} {
		path := filepath.Join(b.TempDir(), "index")
		data := indexBytes(syntheticIndex(n), true)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			b.Fatal(err)
		}
		unsummed := path + "-unsummed"
		if err := os.WriteFile(unsummed, indexBytes(syntheticIndex(n), false), 0o644); err != nil {
			b.Fatal(err)
		}
		x, err := ReadIndex(path, false)
		if err != nil {
			b.Fatal(err)
		}
		read := func(path string) func(b *testing.B) {
			return func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := ReadIndex(path, false); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
		b.Run(fmt.Sprintf("read/%d", n), read(path))
		b.Run(fmt.Sprintf("read without checksum/%d", n), read(unsummed))
		b.Run(fmt.Sprintf("walk/%d", n), func(b *testing.B) {
			total := 0
			for b.Loop() {
				for e := range x.All() {
					total += len(e.Name)
				}
			}
		})
		b.Run(fmt.Sprintf("contains/%d", n), func(b *testing.B) {
			for b.Loop() {
				if !x.HasUnder("dir001/sub1") || x.Contains("dir001/none") {
					b.Fatal("wrong answer")
				}
			}
		})
	}
}

func BenchmarkIndexSignature(b *testing.B) {
	path := filepath.Join(b.TempDir(), "index")
	if err := os.WriteFile(path, indexBytes(syntheticIndex(1000), true), 0o644); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := IndexSignature(path); err != nil {
			b.Fatal(err)
		}
	}
}
