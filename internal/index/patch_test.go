package index_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// manyNames are those of a directory whose block is worth patching.
func manyNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("f%05d", i))
	}
	return names
}

// with is a block like another one in which some names have other contents, or are new.
func with(d *index.Dir, content string, names ...string) *index.Dir {
	var entries []index.Entry
	for rec := range d.All {
		if !slices.Contains(names, string(rec.Name())) {
			entries = append(entries, rec.Entry())
		}
	}
	for _, name := range names {
		entries = append(entries, index.Entry{Name: name, Mode: object.Regular, Perm: 0o644, ID: object.Sum(object.Blob, []byte(content))})
	}
	return blockDir(d.Path, content, entries)
}

func without(d *index.Dir, names ...string) *index.Dir {
	var entries []index.Entry
	for rec := range d.All {
		if !slices.Contains(names, string(rec.Name())) {
			entries = append(entries, rec.Entry())
		}
	}
	return blockDir(d.Path, fmt.Sprint("without", names), entries)
}

func blockDir(path, content string, entries []index.Entry) *index.Dir {
	slices.SortFunc(entries, func(a, b index.Entry) int { return strings.Compare(a.Name, b.Name) })
	d := &index.Dir{Path: path, Tree: object.Sum(object.Tree, []byte(content)), Seal: index.Seal{MTime: int64(len(content)), Rules: 3}}
	for i := range entries {
		d.Raw = index.Append(d.Raw, &entries[i])
	}
	return d
}

// TestPatches: each of these changes to a directory of a thousand files is a few hundred
// bytes of the delta, and all of them together lead to what was put.
func TestPatches(t *testing.T) {
	t.Parallel()
	f := files(t)
	x := index.New()
	x.Put(dir("", "big/", "other/"))
	x.Put(dir("other", "x"))
	x.Put(dir("big", manyNames(1000)...))
	x.Usual(usual) // so that there is a summary
	save(t, x, f)
	for _, step := range []struct {
		name string
		edit func(d *index.Dir) *index.Dir
	}{
		{"one changed", func(d *index.Dir) *index.Dir { return with(d, "a", "f00500") }},
		{"the same again", func(d *index.Dir) *index.Dir { return with(d, "b", "f00500") }},
		{"first and last", func(d *index.Dir) *index.Dir { return with(d, "c", "f00000", "f00999") }},
		{"new at the ends and between", func(d *index.Dir) *index.Dir { return with(d, "d", "a", "f00500.", "z") }},
		{"some gone", func(d *index.Dir) *index.Dir { return without(d, "a", "f00000", "f00499", "z") }},
		{"one back", func(d *index.Dir) *index.Dir { return with(d, "e", "f00499") }},
		{"gone and new", func(d *index.Dir) *index.Dir { return with(without(d, "f00500."), "f", "f00500-") }},
		{"sealed", func(d *index.Dir) *index.Dir {
			return &index.Dir{Path: d.Path, Tree: d.Tree, Raw: d.Raw, Seal: index.Seal{Ino: 9, Rules: 1}}
		}},
		{"seal gone", func(d *index.Dir) *index.Dir { return &index.Dir{Path: d.Path, Tree: d.Tree, Raw: d.Raw} }},
		{"other bits", func(d *index.Dir) *index.Dir {
			e := d.Find("f00001").Entry()
			e.Perm = 0o600
			return withEntry(d, e)
		}},
		{"usual bits", func(d *index.Dir) *index.Dir {
			e := d.Find("f00001").Entry()
			e.Perm = 0o644
			return withEntry(d, e)
		}},
	} {
		before := sizeOf(t, f)
		x.Put(with(x.Dirs["big"], "in between", "never saved")) // and replaced before the save
		x.Put(step.edit(without(x.Dirs["big"], "never saved")))
		save(t, x, f)
		if grown := sizeOf(t, f) - before; grown > 1000 {
			t.Errorf("%s: %d bytes of delta", step.name, grown)
		}
		wantState(t, f, stateOf(x))
		if diff := cmp.Diff(ask(load(t, f)), afresh(x)); diff != "" {
			t.Fatalf("%s: summary:\n%s", step.name, diff)
		}
		if len(step.name)%2 == 0 {
			x = load(t, f) // goes on from patched blocks
		}
	}
}

func withEntry(d *index.Dir, e index.Entry) *index.Dir {
	entries := []index.Entry{e}
	for rec := range without(d, e.Name).All {
		entries = append(entries, rec.Entry())
	}
	return blockDir(d.Path, "withEntry", entries)
}

func sizeOf(t *testing.T, f index.File) int64 {
	if !exists(f.Delta) {
		return 0
	}
	return stat(t, f.Delta).Size()
}

// TestPatchedAndGone: a directory that was patched goes, and one of its name comes back,
// in one save or in several.
func TestPatchedAndGone(t *testing.T) {
	t.Parallel()
	for _, saves := range []string{"", "p", "g", "pg", "pgc", "gc", "c"} {
		f := files(t)
		x := index.New()
		x.Put(dir("", "big/"))
		x.Put(dir("big", manyNames(100)...))
		save(t, x, f)
		at := func(letter byte) {
			if slices.Contains([]byte(saves), letter) {
				save(t, x, f)
				wantState(t, f, stateOf(x))
			}
		}
		x.Put(with(x.Dirs["big"], "patched", "f00001"))
		at('p')
		x.Remove("big")
		at('g')
		x.Put(with(dir("big", manyNames(100)...), "back", "f00002"))
		at('c')
		x.Put(with(x.Dirs["big"], "patched anew", "f00003"))
		save(t, x, f)
		wantState(t, f, stateOf(x))
	}
}

// TestPatchHistories compares random histories of large blocks with what was put.
func TestPatchHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 12))
		f := files(t)
		x := index.New()
		x.Put(dir("", "d0/", "d1/", "d2/"))
		for i := range 3 {
			x.Put(dir(fmt.Sprint("d", i), manyNames(40)...))
		}
		x.Usual(usual)
		save(t, x, f)
		for step := range 60 {
			for range 1 + rng.IntN(3) {
				path := fmt.Sprint("d", rng.IntN(3))
				name := fmt.Sprintf("f%05d", rng.IntN(60))
				d := x.Dirs[path]
				switch n := rng.IntN(12); {
				case n == 0:
					x.Remove(path)
				case d == nil:
					x.Put(dir(path, manyNames(rng.IntN(60))...))
				case n < 4:
					x.Put(without(d, name))
				default:
					x.Put(with(d, fmt.Sprint(step, rng.Uint64()), name))
				}
			}
			if rng.IntN(3) > 0 {
				save(t, x, f)
				wantState(t, f, stateOf(x))
			}
			if rng.IntN(4) == 0 && !x.Dirty() {
				x = load(t, f)
			}
		}
		if diff := cmp.Diff(ask(x), afresh(x)); diff != "" {
			t.Fatalf("seed %d: summary:\n%s", seed, diff)
		}
	}
}
