package collect

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/odbtest"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// TestR67EmptyLiveSet: a store without a ref is more likely damaged than empty.
func TestR67EmptyLiveSet(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/a", 3)
	must(t, os.RemoveAll(l.Path("refs/cairn")))
	out, err := Run(t.Context(), l.DB, Options{Thorough: true})
	if err != nil || out.Blocked == nil || out.Dropped != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	l.Check(false)
	for id := range l.Of["refs/cairn/tracks/a"] {
		if ok, err := l.Has(id); !ok || err != nil {
			t.Fatalf("%s is gone: %v", id, err)
		}
	}
}

// An object that cannot be read may lead to any other: nothing is dropped. The leftovers of dead
// writers are swept.
func TestCollectIsBlockedByDamage(t *testing.T) {
	t.Parallel()
	torn := func(ref string) func(l *odbtest.Lines) {
		return func(l *odbtest.Lines) { must(l.T, os.WriteFile(l.Path(ref), []byte("1234"), 0o600)) }
	}
	hollow := func(kind object.Kind) func(l *odbtest.Lines) {
		return func(l *odbtest.Lines) { // a ref to something that refers to what is not there
			b := l.NewBatch()
			missing := object.ID{1, 2, 3}
			content := object.AppendTree(nil, []object.Entry{{Name: "d", Mode: object.Dir, ID: missing}})
			if kind == object.Commit {
				content = []byte("tree " + object.EmptyTree.String() + "\nparent " + missing.String() + "\n\n")
			}
			id, err := b.Add(kind, content)
			must(l.T, err)
			must(l.T, b.Commit())
			must(l.T, l.SetRef("refs/cairn/hollow", id))
		}
	}
	tests := map[string]func(l *odbtest.Lines){
		"torn ref":          torn("refs/cairn/tracks/torn"),
		"torn HEAD":         torn("HEAD"),
		"ref to nothing":    func(l *odbtest.Lines) { must(l.T, l.SetRef("refs/cairn/x", object.ID{9})) },
		"missing tree":      hollow(object.Tree),
		"missing parent":    hollow(object.Commit),
		"torn packed-refs":  func(l *odbtest.Lines) { must(l.T, os.WriteFile(l.Path("packed-refs"), []byte("1234 refs/x\n"), 0o600)) },
		"packed-refs noise": func(l *odbtest.Lines) { must(l.T, os.WriteFile(l.Path("packed-refs"), []byte("\x00\x01\n"), 0o600)) },
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := odbtest.NewLines(t)
			l.Fill("refs/cairn/tracks/a", 3)
			l.Fill("refs/cairn/tracks/b", 3)
			gone := l.Of["refs/cairn/tracks/b"]
			l.Forget("refs/cairn/tracks/b")
			damage(l)
			left := l.Path("objects/pack/" + pack.TempPrefix + "0123")
			must(t, os.WriteFile(left, nil, 0o600))
			out, err := Run(t.Context(), l.DB, Options{Thorough: true})
			if err != nil || out.Blocked == nil || out.Dropped != 0 || out.Garbage == 0 {
				t.Fatalf("%+v, %v", out, err)
			}
			for id := range gone {
				if ok, err := l.Has(id); !ok || err != nil {
					t.Fatalf("%s is gone: %v", id, err)
				}
			}
			if _, err := os.Lstat(left); err == nil {
				t.Error("a temporary file is still there")
			}
		})
	}
}

// A blob leads to nothing, so a missing one is reported and the collection goes on.
func TestCollectWithAMissingBlob(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/a", 3)
	l.Fill("refs/cairn/tracks/b", 3)
	l.Forget("refs/cairn/tracks/b")
	b := l.NewBatch()
	missing := object.ID{1, 2, 3}
	id, err := b.Add(object.Tree, object.AppendTree(nil, []object.Entry{
		{Name: "lost", Mode: object.Regular, ID: missing}, {Name: "nested", Mode: object.Gitlink, ID: object.ID{7}},
	}))
	must(t, err)
	must(t, b.Commit())
	must(t, l.SetRef("refs/cairn/disk", id))
	out := collect(t, l.DB, Options{})
	if out.Dropped == 0 || len(out.Lost) != 1 || out.Lost[0].ID != missing || !out.Lost[0].Missing {
		t.Fatalf("%+v", out)
	}
}

// Without room nothing is copied. A pack that is all garbage goes.
func TestR62CollectWithoutRoom(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/a", 10)
	l.Fill("refs/cairn/tracks/b", 1)
	l.Forget("refs/cairn/tracks/b")
	b := l.NewBatch() // a pack that is half garbage
	must1(b.Add(object.Blob, gittest.Noise(1, 50000)))
	half := must1(b.Add(object.Blob, gittest.Noise(2, 50000)))
	must(t, b.Commit())
	must(t, l.SetRef("refs/cairn/half", half))
	free := func() (int64, error) { return 40000, nil }
	before := odbtest.PackBytes(t, l.DB)
	out, err := Run(t.Context(), l.DB, Options{Free: free, Reserve: 30000})
	if !errors.Is(err, ErrNoSpace) || out.Peak > 10000 {
		t.Fatalf("%+v, %v", out, err)
	}
	if odbtest.PackBytes(t, l.DB) >= before {
		t.Error("garbage is still there")
	}
	odbtest.WantClean(t, l.DB, "no room")
	l.Check(false)
	collect(t, l.DB, Options{})
	l.Check(true)
}

// Where there is no room to make one pack of several, each pack with garbage is copied alone.
func TestCollectInLittleRoom(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	add := func(ref string, live, dead int) {
		b := l.NewBatch()
		id := must1(b.Add(object.Blob, gittest.Noise(uint64(live), live)))
		if dead > 0 {
			must1(b.Add(object.Blob, gittest.Noise(uint64(dead), dead)))
		}
		must(t, b.Commit())
		must(t, l.SetRef(ref, id))
	}
	add("refs/cairn/a", 20000, 200000)
	add("refs/cairn/b", 30000, 0)
	add("refs/cairn/c", 35000, 150000)
	free := func() (int64, error) { return 40000, nil }
	out, err := Run(t.Context(), l.DB, Options{Free: free, Thorough: true})
	if err != nil || out.Dropped != 2 || out.Peak > 40000 || out.Size > 90000 {
		t.Errorf("%+v, %v", out, err)
	}
	odbtest.WantClean(t, l.DB, "little room")
	l.Check(true)
	if out := collect(t, l.DB, Options{Thorough: true}); out.Packs != 1 {
		t.Errorf("a collection with more room leaves %d packs", out.Packs)
	}
}

// The caller hears of every pack that goes while the pack is still there, and its error keeps the
// packs.
func TestCollectBeforeRemove(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/a", 10)
	l.Fill("refs/cairn/tracks/b", 10)
	l.Forget("refs/cairn/tracks/b")
	before := l.PackNames()
	objection := errors.New("no")
	if _, err := Run(t.Context(), l.DB, Options{BeforeRemove: func(gone, left []string) error { return objection }}); !errors.Is(err, objection) {
		t.Fatal(err)
	}
	for _, name := range before {
		if !slices.Contains(l.PackNames(), name) {
			t.Fatalf("%s is gone", name)
		}
	}
	l.Check(false)
	known := l.PackNames()
	collect(t, l.DB, Options{BeforeRemove: func(gone, left []string) error {
		for _, name := range gone {
			if !slices.Contains(l.PackNames(), name) || slices.Contains(left, name) {
				t.Errorf("%s is gone already, or not", name)
			}
		}
		known = left
		return nil
	}})
	if !slices.Equal(known, l.PackNames()) {
		t.Errorf("said %q, there are %q", known, l.PackNames())
	}
	l.Check(true)
}

// A damaged pack stays as it is, and the others are cleaned.
func TestCollectAroundADamagedPack(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/b", 5)
	b := l.NewBatch()
	id := must1(b.Add(object.Blob, gittest.Noise(1, 5000)))
	must1(b.Add(object.Blob, gittest.Noise(2, 50000)))
	must(t, b.Commit())
	must(t, l.SetRef("refs/cairn/damaged", id))
	var bad *pack.Pack
	for _, p := range must1(l.Packs()) {
		if p.Has(id) {
			bad = p
		}
	}
	data, err := os.ReadFile(bad.Stem + pack.Ext)
	must(t, err)
	off, _, err := bad.Find(id)
	must(t, err)
	data[off+100] ^= 1
	must(t, os.WriteFile(bad.Stem+pack.Ext, data, 0o600))
	l.Fill("refs/cairn/tracks/a", 5)
	l.Forget("refs/cairn/tracks/b")
	out := collect(t, l.DB, Options{Thorough: true})
	if !slices.Contains(l.PackNames(), bad.Name()) || out.Dropped == 0 {
		t.Errorf("%+v", out)
	}
	must(t, l.DeleteRef("refs/cairn/damaged"))
	out = collect(t, l.DB, Options{Thorough: true})
	if slices.Contains(l.PackNames(), bad.Name()) {
		t.Errorf("garbage stays because it is damaged: %+v", out)
	}
	l.Check(true)
}

// A store that has never had a ref has lost none.
func TestV15_CollectWithoutAnyRef(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	out, err := Run(t.Context(), l.DB, Options{})
	if err != nil || out.Blocked != nil {
		t.Errorf("%+v, %v", out, err)
	}
}
