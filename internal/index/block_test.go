package index_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

var allModes = []object.Mode{0, object.Regular, object.Executable, object.Symlink, object.Dir}

// randomEntry has every field, within the bits that the format gives it.
func randomEntry(rng *rand.Rand) index.Entry {
	e := index.Entry{
		Name: randomName(rng),
		Mode: allModes[rng.IntN(len(allModes))],
		Perm: uint16(rng.IntN(0o10000)),
		Skip: index.Skip(rng.IntN(int(index.Sparse) + 1)),
		Racy: rng.IntN(2) == 0, Held: rng.IntN(2) == 0, Empty: rng.IntN(2) == 0,
		Stat: index.Stat{Size: int64(rng.Uint64()), MTime: int64(rng.Uint64()), CTime: int64(rng.Uint64()), Ino: rng.Uint64()},
	}
	for i := range e.ID {
		e.ID[i] = byte(rng.Uint32())
	}
	return e
}

// randomName has any bytes: what may be in a name is for others to judge.
func randomName(rng *rand.Rand) string {
	name := make([]byte, 1+rng.IntN(12))
	if rng.IntN(50) == 0 {
		name = make([]byte, 1+rng.IntN(1000))
	}
	for i := range name {
		name[i] = byte(rng.Uint32())
	}
	return string(name)
}

func sortedEntries(rng *rand.Rand, n int) []index.Entry {
	byName := make(map[string]index.Entry)
	for range n {
		e := randomEntry(rng)
		byName[e.Name] = e
	}
	entries := make([]index.Entry, 0, len(byName))
	for _, e := range byName {
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b index.Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries
}

func block(entries ...index.Entry) []byte {
	var raw []byte
	for i := range entries {
		raw = index.Append(raw, &entries[i])
	}
	return raw
}

func TestBlockRoundTrip(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		entries := sortedEntries(rng, rng.IntN(200))
		d := &index.Dir{Raw: block(entries...)}
		var got []index.Entry
		for rec := range d.All {
			e := rec.Entry()
			got = append(got, e)
			fields := index.Entry{
				Name: string(rec.Name()), Mode: rec.Mode(), Perm: rec.Perm(), Skip: rec.Skip(), Racy: rec.Racy(),
				Held: rec.Held(), Empty: rec.Empty(), Stat: rec.Stat(), ID: rec.ID(),
			}
			if fields != e {
				t.Errorf("field by field %+v, as a whole %+v", fields, e)
			}
		}
		if diff := cmp.Diff(entries, got, cmp.Comparer(func(a, b index.Entry) bool { return a == b })); diff != "" && len(entries) > 0 {
			t.Fatal(diff)
		}
	}
}

func TestExtremeEntries(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]index.Entry{
		"zero":         {Name: "\x00"},
		"longest name": {Name: strings.Repeat("n", 65535), Mode: object.Regular},
		"all bits": {
			Name: "\xff", Mode: object.Dir, Perm: 0xffff, Skip: 31, Racy: true, Held: true, Empty: true,
			Stat: index.Stat{Size: -1, MTime: -1, CTime: -1, Ino: 1<<64 - 1},
		},
	} {
		raw := index.Append([]byte("before"), &e)
		rec, rest := index.Next(raw[len("before"):])
		if got := rec.Entry(); got != e || len(rest) != 0 {
			t.Errorf("%s: %+v and %d bytes more, want %+v", name, got, len(rest), e)
		}
	}
	// Cairn captures nested repositories as files; there is no code for the mode.
	rec, _ := index.Next(index.Append(nil, &index.Entry{Name: "a", Mode: object.Gitlink}))
	if rec.Mode() != 0 {
		t.Errorf("a gitlink became %s", rec.Mode())
	}
}

func TestNextAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, raw := range [][]byte{nil, {}} {
		if rec, rest := index.Next(raw); rec != nil || rest != nil {
			t.Errorf("Next of nothing: %q, %q", rec, rest)
		}
	}
}

// TestRecordsDoNotOverlap: growing a record must not run into the next one.
func TestRecordsDoNotOverlap(t *testing.T) {
	t.Parallel()
	raw := block(index.Entry{Name: "a"}, index.Entry{Name: "b"})
	rec, _ := index.Next(raw)
	_ = append(rec, "overwritten"...)
	if d := (&index.Dir{Raw: raw}); d.Find("b") == nil {
		t.Error("the second record is gone")
	}
}

func TestAllStopsEarly(t *testing.T) {
	t.Parallel()
	d := &index.Dir{Raw: block(index.Entry{Name: "a"}, index.Entry{Name: "b"}, index.Entry{Name: "c"})}
	n := 0
	for rec := range d.All {
		if n++; string(rec.Name()) == "b" {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d records before the break, want 2", n)
	}
}

func TestSetDir(t *testing.T) {
	t.Parallel()
	dir := index.Entry{Name: "dir", Mode: object.Dir, Perm: 0o755, Racy: true, Held: true, Skip: index.Unstable}
	other := index.Entry{Name: "other", Mode: object.Regular, ID: object.EmptyTree}
	raw := block(dir, other)
	for _, empty := range []bool{true, true, false, false, true} {
		dir.Empty = empty
		dir.ID[0]++
		dir.Perm ^= 0o7077
		index.SetDir(raw, dir.Perm, dir.ID, empty)
		if want := block(dir, other); !bytes.Equal(raw, want) {
			t.Fatalf("after SetDir(%o, %s, %v):\n%q, want\n%q", dir.Perm, dir.ID, empty, raw, want)
		}
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	mode, perm := object.Executable, uint16(0o4755)
	st := index.Stat{Size: 1 << 40, MTime: -5, CTime: 6, Ino: 1 << 63}
	same := func(e *index.Entry) { e.Name, e.Mode, e.Perm, e.Stat = "a", mode, perm, st }
	for name, tc := range map[string]struct {
		edit func(*index.Entry)
		want bool
	}{
		"same":             {func(*index.Entry) {}, true},
		"racy":             {func(e *index.Entry) { e.Racy = true }, false},
		"mode":             {func(e *index.Entry) { e.Mode = object.Regular }, false},
		"special":          {func(e *index.Entry) { e.Mode = 0 }, false},
		"permissions":      {func(e *index.Entry) { e.Perm = 0o755 }, false},
		"size":             {func(e *index.Entry) { e.Stat.Size++ }, false},
		"size, high bits":  {func(e *index.Entry) { e.Stat.Size ^= 1 << 62 }, false},
		"mtime":            {func(e *index.Entry) { e.Stat.MTime++ }, false},
		"ctime":            {func(e *index.Entry) { e.Stat.CTime-- }, false},
		"inode":            {func(e *index.Entry) { e.Stat.Ino++ }, false},
		"inode, high bits": {func(e *index.Entry) { e.Stat.Ino ^= 1 << 63 }, false},
		// The other fields are not part of the comparison.
		"name":    {func(e *index.Entry) { e.Name = "b" }, true},
		"id":      {func(e *index.Entry) { e.ID[0]++ }, true},
		"held":    {func(e *index.Entry) { e.Held = true }, true},
		"empty":   {func(e *index.Entry) { e.Empty = true }, true},
		"skipped": {func(e *index.Entry) { e.Skip = index.TooLarge }, true},
	} {
		var e index.Entry
		same(&e)
		tc.edit(&e)
		rec, _ := index.Next(index.Append(nil, &e))
		if got := rec.Matches(mode, perm, &st); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// TestFind asks blocks that are walked and blocks that are searched.
func TestFind(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{0, 1, 2, 10, 60, 70, 1000} {
		entries := sortedEntries(rng, n)
		d := &index.Dir{Raw: block(entries...)}
		known := make(map[string]bool)
		for i, e := range entries {
			known[e.Name] = true
			if rec := d.Find(e.Name); rec == nil || rec.Entry() != entries[i] {
				t.Fatalf("%q not found among %d names", e.Name, n)
			}
		}
		for _, e := range entries {
			for _, name := range []string{"", e.Name + "\x00", e.Name[:len(e.Name)-1], randomName(rng), "\xff\xff\xff\xff"} {
				if rec := d.Find(name); (rec != nil) != known[name] {
					t.Fatalf("Find(%q) among %d names: %v", name, n, rec)
				}
			}
		}
	}
}

func TestFindConcurrently(t *testing.T) {
	t.Parallel()
	d := &index.Dir{}
	for i := range 1000 {
		d.Raw = index.Append(d.Raw, &index.Entry{Name: fmt.Sprintf("%04d", i), Perm: uint16(i)})
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 1000 {
				if rec := d.Find(fmt.Sprintf("%04d", i)); rec == nil || int(rec.Perm()) != i {
					t.Errorf("%d not found", i)
				}
			}
		})
	}
	wg.Wait()
}
