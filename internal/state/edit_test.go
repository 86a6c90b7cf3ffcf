package state

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// A captured path is skipped no longer, nor is a file that it stands below, and a directory
// above it is bare no longer. The metadata that it was made of stay as they were.
func TestWithoutSkipped(t *testing.T) {
	t.Parallel()
	m := &Metadata{
		Skipped: []Skipped{{Path: "a", Reason: "ignored"}, {Path: "f", Reason: "too large", Size: 9}, {Path: "d", Reason: "denied"}, {Path: "other", Reason: "denied"}},
		Bare:    []Path{"f", "d", "e"},
	}
	was := fmt.Sprintf("%+v", m)
	got := m.WithoutSkipped(map[string]bool{"a": true, "f/x": true, "d/x/y": true})
	if want := []Skipped{{Path: "d", Reason: "denied"}, {Path: "other", Reason: "denied"}}; !slices.Equal(got.Skipped, want) {
		t.Errorf("skipped %v, want %v", got.Skipped, want)
	}
	if want := []Path{"e"}; !slices.Equal(got.Bare, want) {
		t.Errorf("bare %q, want %q", got.Bare, want)
	}
	if got.Perms == nil {
		t.Error("the copy has no map to add bits to")
	}
	if now := fmt.Sprintf("%+v", m); now != was {
		t.Errorf("%s has become %s", was, now)
	}
}

func TestDirsAbove(t *testing.T) {
	t.Parallel()
	got := DirsAbove(slices.Values([]string{"a", "d/e/f", "d/x"}))
	if want := map[string]bool{"d": true, "d/e": true}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Lost paths are present and not captured: no list may claim anything else of them.
func TestLose(t *testing.T) {
	t.Parallel()
	m := &Metadata{
		Perm:    usualBits,
		Perms:   PathPerms{"gone": 0o600, "dir/x": 0o600, "stays": 0o600},
		Empty:   []Path{"dir/e", "empty"},
		Bare:    []Path{"dir/b", "bare"},
		Skipped: []Skipped{{Path: "dir/s", Reason: "denied"}, {Path: "z", Reason: "denied"}},
		Rules:   &ruleRecord{Unknown: []Path{"u"}},
	}
	m.Lose(&MendedState{Gone: []string{"gone", "dir", "r/.gitignore"}, Emptied: []string{"r", "bare"}})
	want := &Metadata{
		Perm:    usualBits,
		Perms:   PathPerms{"stays": 0o600},
		Empty:   []Path{"empty"},
		Bare:    []Path{"bare", "r"},
		Skipped: []Skipped{{Path: "dir", Reason: "lost"}, {Path: "gone", Reason: "lost"}, {Path: "r/.gitignore", Reason: "lost"}, {Path: "z", Reason: "denied"}},
		Rules:   &ruleRecord{Unknown: []Path{"r", "u"}},
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("%+v, want %+v", m, want)
	}
}

// Directories without captured files are listed as bare, the others by their bits alone.
func TestWithDirs(t *testing.T) {
	t.Parallel()
	m := &Metadata{Perm: usualBits, Empty: []Path{"e"}, Bare: []Path{"b"}}
	got := m.WithDirs(map[string]uint16{"e": 0o700, "b": 0o755, "held": 0o711, "new": 0o755}, map[string]bool{"held": true})
	if want := (PathPerms{"e": 0o700, "held": 0o711}); !maps.Equal(got.Perms, want) {
		t.Errorf("exceptions %v, want %v", got.Perms, want)
	}
	if want := []Path{"b", "new"}; !slices.Equal(got.Bare, want) {
		t.Errorf("bare %q, want %q", got.Bare, want)
	}
}

// Two states are equal if tree, bits and directories without captured files are. A directory
// may be empty in one and bare in the other.
func TestStateEquals(t *testing.T) {
	t.Parallel()
	tree := object.Sum(object.Tree, []byte("1"))
	base := State{tree, &Metadata{Perm: usualBits, Perms: PathPerms{"a": 0o600}, Empty: []Path{"e"}, Bare: []Path{"b"}}}
	with := func(change func(*State)) State {
		m := *base.Meta
		m.Perms = maps.Clone(m.Perms)
		s := State{base.Tree, &m}
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		other State
		equal bool
	}{
		"itself":                {base, true},
		"another tree":          {with(func(s *State) { s.Tree = object.EmptyTree }), false},
		"other usual bits":      {with(func(s *State) { s.Meta.Perm.File = 0o600 }), false},
		"another exception":     {with(func(s *State) { s.Meta.Perms["b"] = 0o600 }), false},
		"other bits":            {with(func(s *State) { s.Meta.Perms["a"] = 0o640 }), false},
		"one exception less":    {with(func(s *State) { s.Meta.Perms = nil }), false},
		"empty has become bare": {with(func(s *State) { s.Meta.Empty, s.Meta.Bare = nil, []Path{"b", "e"} }), true},
		"a directory more":      {with(func(s *State) { s.Meta.Bare = []Path{"b", "c"} }), false},
		"a directory less":      {with(func(s *State) { s.Meta.Empty = nil }), false},
		"skipped paths differ":  {with(func(s *State) { s.Meta.Skipped = []Skipped{{Path: "x"}} }), true},
	} {
		if got := base.Equals(c.other); got != c.equal {
			t.Errorf("%s: equal %v, want %v", name, got, c.equal)
		}
		if got := c.other.Equals(base); got != c.equal {
			t.Errorf("%s, the other way round: equal %v, want %v", name, got, c.equal)
		}
	}
}

// A Cause survives its text, and no cause stays none.
func TestCause(t *testing.T) {
	t.Parallel()
	if CauseOf(nil) != nil {
		t.Error("no error has a cause")
	}
	c := CauseOf(ErrCorrupt)
	text, err := c.MarshalText()
	if err != nil || !errors.Is(c, ErrCorrupt) {
		t.Errorf("%v, %v", c, err)
	}
	var again Cause
	if err := again.UnmarshalText(text); err != nil || again.Error() != c.Error() {
		t.Errorf("%q comes back as %q, %v", c.Error(), again.Error(), err)
	}
}
