package cairn_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// manyKinds holds one of everything that travels.
func manyKinds() gittest.Tree {
	random := make([]byte, 9<<20) // streamed, and not to be compressed
	r := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	return gittest.Tree{
		"a":      gittest.File("1\n"),
		"copy":   gittest.File("1\n"),
		"empty":  gittest.File(""),
		"run":    gittest.Exec("#!/bin/sh\n"),
		"link":   gittest.Link("a"),
		"large":  gittest.File(string(random)),
		"zeros":  gittest.File(strings.Repeat("\x00", 9<<20)),
		"d/e/f":  gittest.File("deep\n"),
		"d/same": gittest.File("deep\n"),
		"hollow": gittest.Dir(),
	}
}

func (f *fixture) export(spec string) []byte {
	f.Helper()
	var b bytes.Buffer
	if err := f.repo().Export(f.Context(), &b, spec); err != nil {
		f.Fatalf("export %s: %v", spec, err)
	}
	return b.Bytes()
}

func (f *fixture) imported(bundle []byte) *cairn.Checkpoint {
	f.Helper()
	c, err := f.repo().Import(f.Context(), bytes.NewReader(bundle))
	if err != nil {
		f.Fatalf("import: %v", err)
	}
	return c
}

// A checkpoint comes out elsewhere as it went in, with all that git cannot hold.
func TestExportImport(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	f := newFixture(t, manyKinds())
	if err := os.Chmod(f.path("a"), 0o640); err != nil {
		t.Fatal(err)
	}
	f.write(".gitignore", "secret\n")
	f.write("secret", "x\n")
	from := f.track()
	bundle := f.export(from.Hash)
	if again := f.export(from.Checkpoint[:12]); !bytes.Equal(bundle, again) {
		t.Error("the same checkpoint gives another bundle")
	}
	want := f.manifest()
	delete(want, "secret")

	g := newFixture(t, gittest.Tree{"other": gittest.File("o\n")})
	own := g.track()
	c := g.imported(bundle)
	if c.Hash != from.Hash || c.ID == from.Checkpoint {
		t.Errorf("imported %+v from %+v", c, from)
	}
	for _, spec := range []string{from.Hash, from.Hash[:8], c.ID, c.ID[:8]} {
		if found, err := g.repo().Lookup(t.Context(), spec); err != nil || found.ID != c.ID {
			t.Errorf("%s is %v, %v", spec, found, err)
		}
	}
	if newest, err := g.repo().Lookup(t.Context(), "@"); err != nil || newest.ID != own.Checkpoint {
		t.Errorf("@ has become %v, %v", newest, err)
	}
	if changes, err := g.repo().Changes(t.Context(), "@", c.ID); err != nil || len(changes) != from.Files+1 {
		t.Errorf("%d changes, %v, want %d", len(changes), err, from.Files+1)
	}
	n := 0
	for _, err := range g.repo().List(t.Context(), c.ID, "") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != from.Files {
		t.Errorf("lists %d files, want %d", n, from.Files)
	}
	g.restoreAll(c.ID)
	if diff := cmp.Diff(want, g.manifest()); diff != "" {
		t.Error(diff)
	}
	if op, err := g.repo().Undo(t.Context(), cairn.RevertOptions{}); err != nil || !op.Complete() || g.read("other") != "o\n" {
		t.Errorf("undo: %+v, %v", op, err)
	}

	// Again, from what was imported: the same bytes, the same checkpoint.
	if again := g.export(c.ID); !bytes.Equal(again, bundle) {
		t.Error("exported again it is another bundle")
	}
	stored := func() gittest.Listing {
		list := gittest.Manifest(t, g.repo().StoreDir())
		delete(list, "cairn/lock.holder") // the note that names the last holder of the lock
		return list
	}
	before := stored()
	if again := g.imported(bundle); again.ID != c.ID {
		t.Errorf("imported twice: %s, %s", c.ID, again.ID)
	}
	gittest.AssertEqual(t, "the store after a second import", before, stored())
	if here := f.imported(bundle); here.Hash != from.Hash {
		t.Errorf("imported at home: %v", here)
	}
	if found, err := f.repo().Lookup(t.Context(), from.Hash); err != nil || found.ID != from.Checkpoint {
		t.Errorf("the own checkpoint comes first: %v, %v", found, err)
	}
}
