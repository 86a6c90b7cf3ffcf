package index_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// aside writes what x holds aside.
func aside(t *testing.T, x *index.Index, f index.File) *index.Aside {
	t.Helper()
	a := x.Aside(f)
	t.Cleanup(a.Close)
	if err := a.Write(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	return a
}

func install(t *testing.T, a *index.Aside, x *index.Index) {
	t.Helper()
	if err := a.Install(x); err != nil {
		t.Fatal(err)
	}
	a.Close()
}

// noTemporary: nothing but base and delta is there.
func noTemporary(t *testing.T, f index.File) {
	t.Helper()
	list, err := os.ReadDir(filepath.Dir(f.Base))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if path := filepath.Join(filepath.Dir(f.Base), e.Name()); path != f.Base && path != f.Delta {
			t.Errorf("left behind: %s", path)
		}
	}
}

// TestAside: whatever was appended before and after the new base was begun, and before
// and after it was in place, is there in the end.
func TestAside(t *testing.T) {
	t.Parallel()
	for before := range 3 {
		for meanwhile := range 3 {
			f := files(t)
			x := sample()
			x.Files() // so that there is a summary to be saved
			save(t, x, f)
			n := 0
			edit := func() {
				n++
				x.Put(dir("c", fmt.Sprint(n)))
				x.Remove("a")
				x.Put(dir(fmt.Sprint("new", n), "x"))
				x.SetPrivate([]string{"p"}, fmt.Append(nil, n))
				save(t, x, f)
			}
			for range before {
				edit()
			}
			a := aside(t, x, f)
			for range meanwhile {
				edit()
			}
			wantState(t, f, stateOf(x))
			old := read(t, f.Base)
			install(t, a, x)
			if bytes.Equal(old, read(t, f.Base)) {
				t.Fatal("the base is the old one")
			}
			wantState(t, f, stateOf(x))
			if y := load(t, f); y.Files() != x.Files() {
				t.Fatalf("%d files, want %d", y.Files(), x.Files())
			}
			edit()
			wantState(t, f, stateOf(x))
			y := load(t, f)
			y.Put(dir("c", "by another"))
			save(t, y, f)
			wantState(t, f, stateOf(y))
			noTemporary(t, f)
		}
	}
}

// TestAsideKeepsWhatCannotBeSaved: an index whose last save has failed still knows
// afterwards what it has to save.
func TestAsideKeepsWhatCannotBeSaved(t *testing.T) {
	t.Parallel()
	f := files(t)
	x := sample()
	save(t, x, f)
	x.Put(dir("c", "saved"))
	save(t, x, f)
	a := aside(t, x, f)
	x.Put(dir("c", "not saved"))
	install(t, a, x)
	save(t, x, f)
	wantState(t, f, stateOf(x))
}

// TestAsideOvertaken: a base that was begun before somebody else saved is not put in
// place, and leaves nothing behind.
func TestAsideOvertaken(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(t *testing.T, f index.File, x *index.Index){
		"another has appended": func(t *testing.T, f index.File, _ *index.Index) {
			y := load(t, f)
			y.Put(dir("c", "theirs"))
			save(t, y, f)
		},
		"another has written a base": func(t *testing.T, f index.File, _ *index.Index) {
			y := load(t, f)
			for i := range 300 {
				y.Put(largeDir(i, 0))
			}
			save(t, y, f)
		},
		"the base is gone": func(t *testing.T, f index.File, _ *index.Index) { os.Remove(f.Base) },
		"both are gone": func(t *testing.T, f index.File, _ *index.Index) {
			os.Remove(f.Base)
			os.Remove(f.Delta)
		},
		"the delta is gone": func(t *testing.T, f index.File, _ *index.Index) { os.Remove(f.Delta) },
		"the delta is torn": func(t *testing.T, f index.File, _ *index.Index) {
			delta := read(t, f.Delta)
			write(t, f.Delta, delta[:len(delta)-1])
		},
		"what was appended is damaged": func(t *testing.T, f index.File, x *index.Index) {
			x.Put(dir("c", "ours"))
			save(t, x, f)
			delta := read(t, f.Delta)
			delta[len(delta)-1] ^= 1
			write(t, f.Delta, delta)
		},
		"it has written a base itself": func(t *testing.T, f index.File, x *index.Index) {
			for i := range 300 {
				x.Put(largeDir(i, 0))
			}
			save(t, x, f)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := files(t)
			x := sample()
			save(t, x, f)
			x.Put(dir("c", "appended"))
			save(t, x, f)
			a := aside(t, x, f)
			meanwhile(t, f, x)
			base, delta := read(t, f.Base), read(t, f.Delta)
			if err := a.Install(x); !errors.Is(err, index.ErrOvertaken) {
				t.Errorf("%v, want ErrOvertaken", err)
			}
			a.Close()
			if !bytes.Equal(base, read(t, f.Base)) || !bytes.Equal(delta, read(t, f.Delta)) {
				t.Error("base or delta is another")
			}
			noTemporary(t, f)
		})
	}
}

// TestAsideCrash: between the two renames the new base stands beside the old delta.
func TestAsideCrash(t *testing.T) {
	t.Parallel()
	f := files(t)
	x := sample()
	save(t, x, f)
	x.Put(dir("c", "1"))
	save(t, x, f)
	then := stateOf(x)
	a := aside(t, x, f)
	x.Put(dir("c", "2"))
	save(t, x, f)
	delta := read(t, f.Delta)
	install(t, a, x)
	write(t, f.Delta, delta)
	wantState(t, f, then)
	y := load(t, f)
	y.Put(dir("c", "3"))
	save(t, y, f)
	wantState(t, f, stateOf(y))
}

// TestAsideFails: the old pair stays, and nothing else.
func TestAsideFails(t *testing.T) {
	t.Parallel()
	f := files(t)
	x := sample()
	save(t, x, f)
	x.Put(dir("c", "1"))
	save(t, x, f)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := x.Aside(f)
	if err := a.Write(ctx, true); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's", err)
	}
	a.Close()
	noTemporary(t, f)
	wantState(t, f, stateOf(x))

	a = x.Aside(index.File{Base: filepath.Join(filepath.Dir(f.Base), "none", "index"), Delta: f.Delta})
	if err := a.Write(t.Context(), false); err == nil {
		t.Error("written into a directory that is not there")
	}
	a.Close()
	wantState(t, f, stateOf(x))
}

// TestAppend: a delta that is folded aside may grow longer, and Long says when it is
// time, but it does not outgrow the base.
func TestAppend(t *testing.T) {
	t.Parallel()
	f := files(t)
	x := index.New()
	for i := range 1600 {
		x.Put(largeDir(i, 0))
	}
	if save(t, x, f); x.Long() {
		t.Error("too long without a delta")
	}
	base := stat(t, f.Base)
	long, longest := int64(0), int64(0)
	for version := range 2500 {
		x.Put(largeDir(version%1600, version+1))
		if err := x.Append(f); err != nil {
			t.Fatal(err)
		}
		if !os.SameFile(base, stat(t, f.Base)) {
			break
		}
		if longest = stat(t, f.Delta).Size(); x.Long() && long == 0 {
			long = longest
		}
	}
	if quarter := base.Size() / 4; long < quarter || long > quarter+4096 {
		t.Errorf("too long at %d bytes of a base of %d", long, base.Size())
	}
	if longest > base.Size() || longest < base.Size()-4096 || exists(f.Delta) {
		t.Errorf("written anew at %d bytes of a base of %d", longest, base.Size())
	}
	wantState(t, f, stateOf(x))
}

// TestAsideRandomHistories compares with the index after every step.
func TestAsideRandomHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(gittest.Rounds(20)) {
		rng := rand.New(rand.NewPCG(seed, 9))
		f := files(t)
		x := index.New()
		model := make(map[string]string)
		var a *index.Aside
		for range 60 {
			for range rng.IntN(6) {
				edit(rng, x, model)
			}
			x.SetPrivate(x.Packs, fmt.Append(nil, rng.Uint64()))
			if err := x.Append(f); err != nil {
				t.Fatal(err)
			}
			switch rng.IntN(4) {
			case 0:
				if a == nil {
					a = aside(t, x, f)
				}
			case 1:
				if a == nil {
					break
				}
				if err := a.Install(x); err != nil && !errors.Is(err, index.ErrOvertaken) {
					t.Fatal(err)
				}
				a.Close()
				a = nil
			case 2:
				x = load(t, f)
			}
			wantState(t, f, stateOf(x))
		}
	}
}
