package index_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// large is an index of many files. The inodes and times of change of two copies of a tree differ, other
// values of some files as well.
func large(copied int) *index.Index {
	rng := rand.New(rand.NewPCG(1, 2))
	x, ino, ctime := index.New(), uint64(1000*copied), int64(1e18)*int64(copied)
	root := &index.Dir{}
	for i := range 60 {
		d := &index.Dir{Path: fmt.Sprintf("d%02d", i), Seal: index.Seal{MTime: ctime - 7, CTime: ctime, Ino: ino, Rules: 9}}
		for n := range 30 {
			ino, ctime = ino+1+uint64(n%3), ctime+int64(40_000+n*n)
			e := index.Entry{Name: fmt.Sprintf("file%02d.go", n), Mode: object.Regular, Perm: 0o644, Stat: index.Stat{
				Size: rng.Int64N(9e4), MTime: rng.Int64(), CTime: ctime, Ino: ino,
			}}
			binary.LittleEndian.PutUint64(e.ID[:], rng.Uint64())
			switch rng.IntN(200) + copied {
			case 201:
				e.Stat.Size++
				e.ID[3]++
			case 200:
				e.Racy, e.Perm, e.Mode = true, 0o755, object.Executable
			case 199:
				e.Stat.MTime = -5
			}
			if i == 5 && n == copied {
				e.Name += "x"
			}
			d.Raw = index.Append(d.Raw, &e)
		}
		copy(d.Tree[:], fmt.Sprint(i, copied*(i%9)))
		root.Raw = index.Append(root.Raw, &index.Entry{Name: d.Path, Mode: object.Dir, Perm: 0o755, ID: d.Tree})
		x.Put(d)
	}
	x.Put(root)
	x.SetPrivate([]string{"pack"}, []byte("aux"))
	return x
}

// besides are the files of an index beside one that is saved.
func besides(t *testing.T) (f, first index.File) {
	t.Helper()
	first = files(t)
	save(t, large(0), first)
	f = files(t)
	f.Shared = filepath.Join(filepath.Dir(f.Base), "index.shared")
	if !index.Share(f, first) {
		t.Fatal("not shared")
	}
	return f, first
}

// TestSharedBase: an index beside another one takes little room, and loads as it was. What follows is saved
// as ever.
func TestSharedBase(t *testing.T) {
	t.Parallel()
	f, first := besides(t)
	x := large(1)
	save(t, x, f)
	wantState(t, f, stateOf(x))
	whole := stat(t, first.Base).Size()
	if size := stat(t, f.Base).Size(); size > whole/5 {
		t.Errorf("%d bytes beside %d", size, whole)
	}
	x = load(t, f)
	x.Put(dir("d07", "new", "names"))
	x.Put(dir("more", "of", "them"))
	save(t, x, f)
	if !exists(f.Delta) {
		t.Error("a small change was no delta")
	}
	wantState(t, f, stateOf(x))
	save(t, large(3), first) // the first store goes on
	if err := os.Remove(first.Base); err != nil {
		t.Fatal(err)
	}
	wantState(t, f, stateOf(x))
	x = load(t, f)
	if err := x.Fold(f); err != nil {
		t.Fatal(err)
	}
	if exists(f.Shared) || exists(f.Delta) || stat(t, f.Base).Size() < whole*9/10 {
		t.Error("the second base does not stand alone")
	}
	wantState(t, f, stateOf(x))
}

// TestSharedBaseOfAFork: an index beside one that is written beside another shares that other one.
func TestSharedBaseOfAFork(t *testing.T) {
	t.Parallel()
	f, first := besides(t)
	save(t, large(1), f)
	g := files(t)
	g.Shared = filepath.Join(filepath.Dir(g.Base), "index.shared")
	if !index.Share(g, f) {
		t.Fatal("not shared")
	}
	x := large(2)
	save(t, x, g)
	wantState(t, g, stateOf(x))
	if stat(t, g.Base).Size() > stat(t, first.Base).Size()/5 || !os.SameFile(stat(t, g.Shared), stat(t, first.Base)) {
		t.Error("the base of the first is not shared")
	}
	none := files(t)
	none.Shared = g.Shared + "2"
	if index.Share(none, files(t)) || exists(none.Shared) {
		t.Error("shared with nothing")
	}
	save(t, large(2), none)
	wantState(t, none, stateOf(x))
}

// TestDamagedSharedBase: no damage of either file goes unnoticed.
func TestDamagedSharedBase(t *testing.T) {
	t.Parallel()
	f, _ := besides(t)
	x := large(1)
	save(t, x, f)
	damaged := func(what string) {
		t.Helper()
		got, err := index.Load(f)
		if !errors.Is(err, index.ErrMalformed) && !errors.Is(err, os.ErrNotExist) || len(got.Dirs) > 0 {
			t.Fatalf("%s: %d directories, %v", what, len(got.Dirs), err)
		}
	}
	base, shared := read(t, f.Base), read(t, f.Shared)
	for at := 0; at < len(base); at += 1 + at/40 {
		bad := append([]byte(nil), base...)
		bad[at] ^= 0x41
		write(t, f.Base, bad)
		damaged(fmt.Sprint("byte ", at))
		write(t, f.Base, base[:at])
		damaged(fmt.Sprint("cut off at ", at))
	}
	write(t, f.Base, base)
	if err := os.Remove(f.Shared); err != nil {
		t.Fatal(err)
	}
	damaged("without the shared base")
	for at := 0; at < len(shared); at += 1 + at/40 {
		bad := append([]byte(nil), shared...)
		bad[at] ^= 0x41
		write(t, f.Shared, bad)
		damaged(fmt.Sprint("byte of the shared base ", at))
	}
	other := files(t)
	save(t, large(0), other)
	write(t, f.Shared, read(t, other.Base))
	damaged("another shared base")
	write(t, f.Shared, shared)
	wantState(t, f, stateOf(x))
}
