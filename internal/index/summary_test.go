package index_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

var usual = index.Perms{File: 0o644, Exec: 0o755, Dir: 0o755}

// said is what the summary of an index answers.
type said struct {
	Files int
	Usual index.Perms
	Odd   []string
}

func ask(x *index.Index) said {
	u := x.Usual(usual)
	return said{x.Files(), u, slices.Sorted(maps.Keys(x.Odd(u)))}
}

// afresh asks an index that has the same blocks and never was asked before.
func afresh(x *index.Index) said { return ask(x.Clone()) }

func TestSummary(t *testing.T) {
	t.Parallel()
	id := object.Sum(object.Blob, nil)
	put := func(x *index.Index, path string, entries ...index.Entry) {
		d := &index.Dir{Path: path, Tree: id}
		for i := range entries {
			entries[i].Name = fmt.Sprintf("%02d", i)
			d.Raw = index.Append(d.Raw, &entries[i])
		}
		x.Put(d)
	}
	file := index.Entry{Mode: object.Regular, Perm: 0o644, ID: id}
	private := index.Entry{Mode: object.Regular, Perm: 0o600, ID: id}
	for name, test := range map[string]struct {
		entries []index.Entry
		want    said
	}{
		"nothing":    {nil, said{0, usual, nil}},
		"usual":      {[]index.Entry{file, {Mode: object.Executable, Perm: 0o755, ID: id}, {Mode: object.Dir, Perm: 0o755, ID: id}}, said{2, usual, nil}},
		"symlink":    {[]index.Entry{{Mode: object.Symlink, Perm: 0o777, ID: id}}, said{1, usual, nil}},
		"bits":       {[]index.Entry{file, private, file}, said{3, usual, []string{""}}},
		"other bits": {[]index.Entry{file, private, private}, said{3, index.Perms{File: 0o600, Exec: 0o755, Dir: 0o755}, []string{""}}},
		"draw":       {[]index.Entry{file, private}, said{2, usual, []string{""}}},
		"lower bits": {[]index.Entry{{Mode: object.Regular, Perm: 0o640, ID: id}, private}, said{2, index.Perms{File: 0o600, Exec: 0o755, Dir: 0o755}, []string{""}}},
		"skipped":    {[]index.Entry{{Mode: object.Regular, Perm: 0o644, Skip: index.TooLarge}}, said{0, usual, []string{""}}},
		"empty":      {[]index.Entry{{Mode: object.Dir, Perm: 0o755, Empty: true}}, said{0, usual, []string{""}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := index.New()
			put(x, "", test.entries...)
			if diff := cmp.Diff(test.want, ask(x)); diff != "" {
				t.Error(diff)
			}
			put(x, "", file)
			put(x, "a", test.entries...)
			x.Remove("")
			if got := ask(x); got.Files != test.want.Files || got.Usual != test.want.Usual {
				t.Errorf("after moving: %+v", got)
			}
		})
	}
}

// A summary that follows the changes says what one made afresh does, saved or not.
func TestSummaryFollows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := index.File{Base: filepath.Join(dir, "index"), Delta: filepath.Join(dir, "delta")}
	random := rand.New(rand.NewPCG(1, 2))
	x := index.New()
	for round := range 400 {
		for range random.IntN(4) {
			if path := fmt.Sprint(random.IntN(300)); random.IntN(5) == 0 {
				x.Remove(path)
			} else {
				x.Put(randomDir(random, path))
			}
		}
		if random.IntN(3) == 0 {
			ask(x)
		}
		if random.IntN(3) == 0 {
			if err := x.Save(f); err != nil {
				t.Fatal(err)
			}
		}
		if random.IntN(10) == 0 && !x.Dirty() {
			loaded, err := index.Load(f)
			if err != nil {
				t.Fatal(err)
			}
			x = loaded
		}
		if diff := cmp.Diff(afresh(x), ask(x)); diff != "" {
			t.Fatalf("round %d: %s", round, diff)
		}
	}
}

func randomDir(random *rand.Rand, path string) *index.Dir {
	modes := []object.Mode{object.Regular, object.Executable, object.Symlink, object.Dir}
	perms := []uint16{0o644, 0o644, 0o755, 0o600}
	d := &index.Dir{Path: path}
	for i := range random.IntN(4) {
		e := index.Entry{Name: fmt.Sprint(i), Mode: modes[random.IntN(len(modes))], Perm: perms[random.IntN(len(perms))]}
		if e.Skip = index.Skip(random.IntN(8) / 7); e.Skip == index.Captured && random.IntN(3) > 0 {
			e.ID = object.Sum(object.Blob, []byte(path))
		}
		d.Raw = index.Append(d.Raw, &e)
	}
	return d
}

// Of a tree in which everything is odd, the summary is not saved.
func TestSummaryTooOdd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := index.File{Base: filepath.Join(dir, "index"), Delta: filepath.Join(dir, "delta")}
	x := index.New()
	for i := range 300 {
		d := &index.Dir{Path: fmt.Sprint(i)}
		d.Raw = index.Append(d.Raw, &index.Entry{Name: "fifo", Skip: index.Special})
		x.Put(d)
	}
	want := ask(x)
	if len(want.Odd) != 300 {
		t.Fatalf("%d odd directories", len(want.Odd))
	}
	if err := x.Save(f); err != nil {
		t.Fatal(err)
	}
	loaded, err := index.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, ask(loaded)); diff != "" {
		t.Error(diff)
	}
}
