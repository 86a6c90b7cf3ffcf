package scan

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// treeBlock is a block as a scan makes it: sorted by names.
func treeBlock(entries []index.Entry) *index.Dir {
	slices.SortFunc(entries, func(a, b index.Entry) int { return strings.Compare(a.Name, b.Name) })
	d := &index.Dir{}
	for i := range entries {
		d.Raw = index.Append(d.Raw, &entries[i])
	}
	return d
}

func wantTree(t *testing.T, w *treeWriter, d *index.Dir) {
	t.Helper()
	want := object.AppendTree(nil, TreeEntries(d))
	if got := w.encode(d); !bytes.Equal(got, want) {
		t.Errorf("tree %q, want %q", got, want)
	}
}

// A directory comes after names that go on from its own with a character less than '/'.
func TestTreeOfBlock(t *testing.T) {
	t.Parallel()
	some := object.Sum(object.Blob, []byte("some"))
	entry := func(name string) index.Entry {
		if dir, ok := strings.CutSuffix(name, "/"); ok {
			return index.Entry{Name: dir, Mode: object.Dir, ID: some}
		}
		return index.Entry{Name: name, Mode: object.Regular, ID: some}
	}
	var w treeWriter
	for _, names := range []string{
		"", "a", "a/", "a/ b", "a/ a-", "a/ a- a0", "a/ a.b/ a.b.c a0", "a/ a-/ a-- a-.", "a/ a.c a\xff", "a/ aa/ aa- aa-b/ ab", "a a-/ a0/",
	} {
		var entries []index.Entry
		for _, name := range strings.Fields(names) {
			entries = append(entries, entry(name))
		}
		wantTree(t, &w, treeBlock(entries))
	}
	kept := entry("kept")
	for _, e := range []index.Entry{
		{Name: "dir", Mode: object.Dir}, // with nothing captured in it
		{Name: "large", Mode: object.Regular, Skip: index.TooLarge, ID: some},
		{Name: "link", Mode: object.Symlink, ID: some},
		{Name: "run", Mode: object.Executable, ID: some},
	} {
		wantTree(t, &w, treeBlock([]index.Entry{kept, e}))
	}
}

func TestTreeOfAnyBlock(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	modes := []object.Mode{object.Regular, object.Executable, object.Symlink, object.Dir, object.Dir}
	var w treeWriter
	for range 5000 {
		byName := make(map[string]index.Entry)
		for range r.IntN(12) {
			name := make([]byte, 1+r.IntN(4))
			for i := range name {
				name[i] = "a-0."[r.IntN(4)]
			}
			byName[string(name)] = index.Entry{
				Name: string(name), Mode: modes[r.IntN(len(modes))], ID: object.Sum(object.Blob, fmt.Append(nil, r.IntN(3))),
			}
		}
		var entries []index.Entry
		for _, e := range byName {
			entries = append(entries, e)
		}
		wantTree(t, &w, treeBlock(entries))
	}
}
