package index

import (
	"errors"
	"slices"
	"testing"
)

func TestHostilePatches(t *testing.T) {
	t.Parallel()
	good := patch{path: "b", raw: entries("d")}
	for name, rec := range map[string]*record{
		"of nothing":         {patches: []patch{{path: "unknown", raw: entries("x")}}},
		"of what goes":       {removed: []string{"b"}, patches: []patch{good}},
		"behind a good one":  {patches: []patch{good, {path: "unknown"}}},
		"entries in reverse": {patches: []patch{{path: "b", raw: entries("z", "a")}}},
		"half an entry":      {patches: []patch{{path: "b", raw: entries("z")[:20]}}},
	} {
		x := New()
		if err := x.decodeBase(baseOf(sampleRecord().append(nil))); err != nil {
			t.Fatal(err)
		}
		rec.aux = []byte("new")
		x.replay(deltaOf(rec.append(nil), (&record{aux: []byte("later")}).append(nil)))
		if string(x.Aux) != "aux" || x.tailLen != headerLen || x.Lookup("b/d") != nil || x.Lookup("b/c") == nil {
			t.Errorf("%s: it was applied: %+v", name, x)
		}
	}
	if err := New().decodeBase(baseOf((&record{patches: []patch{good}}).append(nil))); !errors.Is(err, ErrMalformed) {
		t.Errorf("in a base: %v, want ErrMalformed", err)
	}
}

// TestSpareRemoval: to remove a name that is not there is no harm.
func TestSpareRemoval(t *testing.T) {
	t.Parallel()
	x := New()
	if err := x.decodeBase(baseOf(sampleRecord().append(nil))); err != nil {
		t.Fatal(err)
	}
	rec := record{patches: []patch{{path: "b", gone: []string{"", "a", "z"}, raw: entries("d")}, {path: "empty", raw: entries("x")}}}
	x.replay(deltaOf(rec.append(nil)))
	if !slices.Equal(x.Dirs["b"].Raw, entries("c", "d")) || !slices.Equal(x.Dirs["empty"].Raw, entries("x")) {
		t.Errorf("patched to %q, %q", x.Dirs["b"].Raw, x.Dirs["empty"].Raw)
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	changed := Append(nil, &Entry{Name: "b", Perm: 1})
	for _, c := range []struct {
		name string
		a, b []byte
		want string
	}{
		{"nothing", nil, nil, ""},
		{"equal", entries("a", "b"), entries("a", "b"), ""},
		{"all new", nil, entries("a", "b"), "+a+b"},
		{"all gone", entries("a", "b"), nil, "-a-b"},
		{"changed", entries("a", "b", "c"), slices.Concat(entries("a"), changed, entries("c")), "=b"},
		{"between", entries("a", "c"), entries("a", "b", "c"), "+b"},
		{"prefixes", entries("a", "a.b"), entries("a", "a.", "a.b", "a.bc"), "+a.+a.bc"},
		{"others", entries("a", "c"), entries("b", "d"), "-a+b-c+d"},
	} {
		got := ""
		for was, is := range Differences(&Dir{Raw: c.a}, &Dir{Raw: c.b}) {
			switch {
			case was == nil:
				got += "+" + string(is.Name())
			case is == nil:
				got += "-" + string(was.Name())
			default:
				got += "=" + string(is.Name())
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
