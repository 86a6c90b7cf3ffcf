package index_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// state is all that an index says.
type state struct {
	Dirs  map[string]string // tree and entries by path
	Packs []string
	Aux   string
}

func stateOf(x *index.Index) state {
	s := state{Dirs: make(map[string]string), Packs: slices.Clone(x.Packs), Aux: string(x.Aux)}
	for path, d := range x.Dirs {
		s.Dirs[path] = fmt.Sprintf("%s %s %v %s", d.Path, d.Tree, d.Seal, d.Raw)
	}
	return s
}

func (s state) diff(other state) string { return cmp.Diff(s, other, cmpopts.EquateEmpty()) }

// dir is a block with these names in it, sorted; those that end in '/' are
// directories.
func dir(path string, names ...string) *index.Dir {
	d := &index.Dir{Path: path, Tree: object.Sum(object.Blob, []byte(path))}
	d.Seal = index.Seal{MTime: int64(len(names)), CTime: -1, Ino: 1<<64 - 1, Rules: uint64(len(path))}
	slices.Sort(names)
	for _, name := range names {
		e := index.Entry{Name: name, Mode: object.Regular, Perm: 0o644, ID: object.Sum(object.Blob, []byte(name))}
		if name[len(name)-1] == '/' {
			e.Name, e.Mode, e.Perm = name[:len(name)-1], object.Dir, 0o755
		}
		d.Raw = index.Append(d.Raw, &e)
	}
	return d
}

// sample is an index of a few directories, below and beside each other.
func sample() *index.Index {
	x := index.New()
	for _, d := range []*index.Dir{
		dir("", "a/", "b", "c/", "z/"),
		dir("a", "b/", "f"), dir("a/b", "c/", "g"), dir("a/b/c", "h"),
		dir("c", "i"), dir("z"),
	} {
		x.Put(d)
	}
	return x
}

func paths(x *index.Index) []string { return slices.Sorted(maps.Keys(x.Dirs)) }

func TestPut(t *testing.T) {
	t.Parallel()
	x := index.New()
	if x.Root() != nil || x.Dirty() {
		t.Error("a new index has a root or something to save")
	}
	first, second := dir("", "a"), dir("", "b")
	x.Put(first)
	if x.Root() != first || !x.Dirty() {
		t.Error("the first block is not the root's")
	}
	x.Put(second)
	if x.Root() != second || x.Lookup("a") != nil || x.Lookup("b") == nil {
		t.Error("the second block has not replaced the first")
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][]string{
		"a":     {"", "c", "z"},
		"a/b":   {"", "a", "c", "z"},
		"a/b/c": {"", "a", "a/b", "c", "z"},
		"z":     {"", "a", "a/b", "a/b/c", "c"},
		"":      {},
		"b":     {"", "a", "a/b", "a/b/c", "c", "z"}, // a file
		"none":  {"", "a", "a/b", "a/b/c", "c", "z"},
		"a/":    {"", "a", "a/b", "a/b/c", "c", "z"},
	} {
		x := sample()
		x.Remove(path)
		if diff := cmp.Diff(want, paths(x), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("after Remove(%q):\n%s", path, diff)
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	x := sample()
	for path, mode := range map[string]object.Mode{
		"a": object.Dir, "b": object.Regular, "a/f": object.Regular, "a/b/c": object.Dir, "a/b/c/h": object.Regular, "c/i": object.Regular,
	} {
		rec := x.Lookup(path)
		if _, name := index.Split(path); rec == nil || rec.Mode() != mode || string(rec.Name()) != name {
			t.Errorf("Lookup(%q) = %q", path, rec)
		}
	}
	for _, path := range []string{"", "/", "a/", "f", "a/b/h", "b/f", "none/f", "z/a", "a//f"} {
		if rec := x.Lookup(path); rec != nil {
			t.Errorf("Lookup(%q) = %q, want nil", path, rec)
		}
	}
}

func TestSetPrivate(t *testing.T) {
	t.Parallel()
	x := index.New()
	for _, tc := range []struct {
		name  string
		packs []string
		aux   string
		dirty bool
	}{
		{"nothing", nil, "", false},
		{"still nothing", []string{}, "", false},
		{"packs", []string{"p", "q"}, "", true},
		{"same", []string{"p", "q"}, "", false},
		{"other order", []string{"q", "p"}, "", true},
		{"aux", []string{"q", "p"}, "x\x00", true},
		{"gone", nil, "", true},
	} {
		y := &index.Index{Dirs: x.Dirs, Packs: x.Packs, Aux: x.Aux}
		y.SetPrivate(tc.packs, []byte(tc.aux))
		if y.Dirty() != tc.dirty {
			t.Errorf("%s: dirty %v, want %v", tc.name, y.Dirty(), tc.dirty)
		}
		if string(y.Aux) != tc.aux || !slices.Equal(y.Packs, tc.packs) {
			t.Errorf("%s: holds %q, %q", tc.name, y.Packs, y.Aux)
		}
		x = y
	}
}

func TestClone(t *testing.T) {
	t.Parallel()
	x := sample()
	x.SetPrivate([]string{"p"}, []byte("aux"))
	before := stateOf(x)
	clone := x.Clone()
	if diff := before.diff(stateOf(clone)); diff != "" {
		t.Errorf("the clone differs:\n%s", diff)
	}
	clone.Remove("a")
	clone.Put(dir("new"))
	clone.SetPrivate(nil, nil)
	if diff := before.diff(stateOf(x)); diff != "" {
		t.Errorf("the clone is not independent:\n%s", diff)
	}
}

func TestJoinSplit(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ path, dir, name string }{
		{"a", "", "a"}, {"a/b", "a", "b"}, {"a/b/c", "a/b", "c"}, {"é/\xff\n", "é", "\xff\n"}, {"", "", ""},
	} {
		if d, n := index.Split(tc.path); d != tc.dir || n != tc.name {
			t.Errorf("Split(%q) = %q, %q, want %q, %q", tc.path, d, n, tc.dir, tc.name)
		}
		if got := index.Join(tc.dir, tc.name); got != tc.path {
			t.Errorf("Join(%q, %q) = %q, want %q", tc.dir, tc.name, got, tc.path)
		}
	}
}

func TestSkip(t *testing.T) {
	t.Parallel()
	// The words are part of the JSON and commit formats.
	for skip, want := range map[index.Skip]string{
		index.Captured: "", index.TooLarge: "too large", index.Unreadable: "unreadable", index.Special: "special file",
		index.Unstable: "unstable", index.UnsafeName: "unsafe name", index.Sparse: "sparse checkout",
	} {
		if skip.String() != want {
			t.Errorf("Skip(%d) = %q, want %q", skip, skip, want)
		}
	}
	if got := index.Skip(31).String(); got != "unknown" {
		t.Errorf("Skip(31) = %q", got)
	}
}
