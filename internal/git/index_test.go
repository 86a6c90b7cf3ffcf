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
	checkTree(t, o, dir, sha256, x, want)
	if err := os.Rename(aside, path); err != nil {
		t.Fatal(err)
	}
}

// checkTree fails unless the tree of an index is the one that git writes, or the index is more than a tree.
func checkTree(t *testing.T, o *gittest.Oracle, dir string, sha256 bool, x *Index, want []IndexEntry) {
	t.Helper()
	plain := !slices.ContainsFunc(want, func(e IndexEntry) bool {
		return e.Stage != 0 || e.AssumeValid || e.SkipWorktree || e.IntentToAdd || e.Mode == object.Dir
	})
	tree, ok := x.Tree(sha256)
	if ok != plain {
		t.Errorf("Tree gives %q, %v for an index of %+v", tree, ok, want)
	}
	if git := ""; ok {
		if git = strings.TrimSpace(o.In(dir, "write-tree", "--missing-ok")); tree != git {
			t.Errorf("tree %s, git writes %s", tree, git)
		}
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
