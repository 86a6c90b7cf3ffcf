package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// files is short for contents by path.
type files map[string]string

func (f files) with(more files) files {
	all := make(files)
	maps.Copy(all, f)
	maps.Copy(all, more)
	return all
}

// summary lists what a plan does and leaves, one line a path.
func summary(p *Plan) []string {
	var out []string
	for i := range p.Changes {
		c := &p.Changes[i]
		out = append(out, fmt.Sprintf("%s %s", c.Action, c.Path))
	}
	for _, path := range p.Losses {
		out = append(out, "save "+path)
	}
	for _, s := range p.Kept {
		out = append(out, fmt.Sprintf("keep %s: %s", s.Path, s.Reason))
	}
	for _, s := range p.Conflicts {
		out = append(out, fmt.Sprintf("conflict %s: %s", s.Path, s.Reason))
	}
	slices.Sort(out)
	return out
}

// TestRestorePlans makes plans from a fake disk to the file "a" with the text "then", and
// what is named beside it.
func TestRestorePlans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name             string
		disk, uncaptured files
		target           files
		keepNew          bool
		locked           string
		want             []string
	}{
		{name: "nothing to do", disk: files{"a": "then"}, target: files{"a": "then"}},
		{name: "changed", disk: files{"a": "now"}, target: files{"a": "then"}, want: []string{"modify a"}},
		{name: "gone", target: files{"a": "then"}, want: []string{"create a"}},
		{name: "made since", disk: files{"a": "now"}, want: []string{"delete a"}},
		{name: "made since, with its directory", disk: files{"d/a": "now"}, want: []string{"delete d/a", "rmdir d"}},
		{name: "new files stay", disk: files{"a": "now", "b": "now"}, target: files{"b": "then"}, keepNew: true, want: []string{"modify b"}},
		{name: "gone with its directory", target: files{"d/a": "then"}, want: []string{"create d/a", "mkdir d"}},
		{name: "empty directory", target: files{"d/": ""}, want: []string{"mkdir d"}},
		{
			name: "uncaptured in its place", uncaptured: files{"a": "ignored"}, target: files{"a": "then"},
			want: []string{"modify a", "save a"},
		},
		{name: "uncaptured, and equal", uncaptured: files{"a": "then"}, target: files{"a": "then"}},
		{
			name: "uncaptured, and not to be saved", uncaptured: files{"a": "ignored"}, target: files{"a": "then"}, locked: "a",
			want: []string{"conflict a: cannot be saved first: locked"},
		},
		{
			name: "uncaptured in place of the directory", uncaptured: files{"d": "ignored"}, target: files{"d/a": "then"},
			want: []string{"create d/a", "delete d", "mkdir d", "save d"},
		},
		{
			name: "captured directory in its place", disk: files{"a/b": "now"}, target: files{"a": "then"},
			want: []string{"create a", "delete a/b", "rmdir a"},
		},
		{
			name: "directory with uncaptured in its place", disk: files{"a/b": "now"}, uncaptured: files{"a/c": "ignored"}, target: files{"a": "then"},
			want: []string{"conflict a: something that is not captured stands in the way: a/c"},
		},
		{
			name: "ignored at the target", disk: files{"x.log": "now"}, target: files{".gitignore": "*.log\n"},
			want: []string{"create .gitignore", "keep x.log: ignored at the target, so it may have existed"},
		},
		{
			name: "directory that still holds something", disk: files{"d/a": "now"}, uncaptured: files{"d/b": "ignored"},
			want: []string{"delete d/a"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store := statetest.NewStore(t)
			disk := fakeDisk{c.disk.with(c.uncaptured), c.disk, c.locked}
			p, err := Make(t.Context(), store, disk, disk.capture(t, store), statetest.NewState(t, store, c.target), Options{KeepNew: c.keepNew})
			if err != nil {
				t.Fatal(err)
			}
			if got := summary(p); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestTakeBackPlans takes a step back on a fake disk that was changed since.
func TestTakeBackPlans(t *testing.T) {
	t.Parallel()
	const text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	last := strings.Replace(text, "9", "nine", 1)
	first := strings.Replace(text, "1", "one", 1)
	both := strings.Replace(last, "1", "one", 1)
	uno := strings.Replace(text, "1", "uno", 1)
	for _, c := range []struct {
		name          string
		before, after files
		now           files
		policy        Policy
		want          []string
		merged        string
	}{
		{name: "nothing since", before: files{"a": text}, after: files{"a": first}, now: files{"a": first, "b": "later"}, policy: Merge, want: []string{"modify a"}},
		{name: "back already", before: files{"a": text}, after: files{"a": first}, now: files{"a": text}, policy: Merge},
		{name: "merged", before: files{"a": text}, after: files{"a": first}, now: files{"a": both}, policy: Merge, want: []string{"modify a"}, merged: last},
		{
			name: "overlap", before: files{"a": text}, after: files{"a": first}, now: files{"a": uno}, policy: Merge,
			want: []string{"conflict a: changed since, and the changes overlap"},
		},
		{name: "overwrite", before: files{"a": text}, after: files{"a": first}, now: files{"a": uno}, policy: Overwrite, want: []string{"modify a"}},
		{name: "keep", before: files{"a": text}, after: files{"a": first}, now: files{"a": uno}, policy: Keep, want: []string{"keep a: changed since"}},
		{name: "deleted since", before: files{"a": text}, after: files{"a": first}, now: files{}, policy: Merge, want: []string{"conflict a: deleted since"}},
		{
			name: "made since", before: files{"a": text}, after: files{}, now: files{"a": uno}, policy: Merge,
			want: []string{"conflict a: made since by another writer"},
		},
		{
			name: "changed since it was made", before: files{}, after: files{"a": text}, now: files{"a": uno}, policy: Merge,
			want: []string{"conflict a: changed since"},
		},
		{
			name: "rename, one half of it changed since", before: files{"a": text}, after: files{"b": text}, now: files{"b": uno}, policy: Merge,
			want: []string{"conflict a: the other half of a rename stays: b", "conflict b: changed since"},
		},
		{
			name: "rename into the place of a directory that stays", before: files{"d": text}, after: files{"a": text, "d/b": uno},
			now: files{"a": text, "d/b": first}, policy: Merge,
			want: []string{"conflict a: the other half of a rename stays: d", "conflict d/b: changed since", "conflict d: something else stands there now: d/b"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store := statetest.NewStore(t)
			disk := fakeDisk{c.now, c.now, ""}
			before, after := statetest.NewState(t, store, c.before), statetest.NewState(t, store, c.after)
			p, err := Make(t.Context(), store, disk, disk.capture(t, store), before, takeBack(t, store, before, after, c.policy))
			if err != nil {
				t.Fatal(err)
			}
			if got := summary(p); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if c.merged != "" && string(p.Merged[p.Changes[0].ID]) != c.merged {
				t.Errorf("merged %q, want %q", p.Merged, c.merged)
			}
		})
	}
}

// TestLaterPathsStay: a path of a later writer goes only where something takes its place. Here a file would take the
// place of what stands there now, if the other half of its rename did not stay.
func TestLaterPathsStay(t *testing.T) {
	t.Parallel()
	locked := []string{"conflict a: cannot be saved first: locked"}
	for _, c := range []struct {
		name, from             string // from became a
		now                    files
		goes                   []string // what goes besides, if from comes back
		also, uncaptured, made files
		stays                  []string // what goes if it does not
	}{
		{
			name: "in a directory", from: "d", made: files{"d/b": "made"}, now: files{"d/later": "later", "d/sub/later": "later"},
			goes: []string{"delete d/b", "delete d/later", "delete d/sub/later", "rmdir d", "rmdir d/sub"}, stays: []string{"delete d/b"},
		},
		{name: "an empty directory", from: "d", now: files{"d/": ""}, goes: []string{"rmdir d"}},
		{name: "a file in the place of a directory", from: "d/x", now: files{"d": "later"}, goes: []string{"delete d", "mkdir d", "save d"}},
		{name: "an uncaptured file there", from: "d/x", uncaptured: files{"d": "later"}, goes: []string{"delete d", "mkdir d", "save d"}},
		{name: "a file above the directory", from: "d/e/x", now: files{"d": "later"}, goes: []string{"delete d", "mkdir d", "mkdir d/e", "save d"}},
		{
			name: "another file comes back there", from: "d/x", also: files{"d/y": "also"}, now: files{"d": "later"},
			goes: []string{"create d/y", "delete d", "mkdir d", "save d"}, stays: []string{"create d/y", "delete d", "mkdir d", "save d"},
		},
		{name: "a file that the step made there", from: "d/x", made: files{"d": "made"}, goes: []string{"delete d", "mkdir d"}, stays: []string{"delete d"}},
	} {
		store := statetest.NewStore(t)
		captured := c.now.with(c.made)
		before, after := statetest.NewState(t, store, files{c.from: "moved"}.with(c.also)), statetest.NewState(t, store, files{"a": "moved"}.with(c.made))
		for lock, want := range map[string][]string{
			"":  append(c.goes, "create "+c.from, "delete a", "save a"),
			"a": append(append(c.stays, locked...), "conflict "+c.from+": the other half of a rename stays: a"),
		} {
			disk := fakeDisk{captured.with(c.uncaptured).with(files{"a": "moved"}), captured, lock}
			p, err := Make(t.Context(), store, disk, disk.capture(t, store), before, takeBack(t, store, before, after, Overwrite))
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(want)
			if got := summary(p); !slices.Equal(got, want) {
				t.Errorf("%s, %q is locked: got %q, want %q", c.name, lock, got, want)
			}
		}
	}
}

// takeBack is the options of a plan that takes the difference of two states back.
func takeBack(t *testing.T, store *history.Store, before, after state.State, policy Policy) Options {
	t.Helper()
	step, err := store.Changes(t.Context(), before, after, nil)
	if err != nil {
		t.Fatal(err)
	}
	scope, err := ChangedBetween(store, before, after, nil, step)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Scope: scope, Way: &ThreeWay{Base: after, Policy: policy}, Step: step}
}

func TestPolicyFailMakesNoPlan(t *testing.T) {
	t.Parallel()
	store, now := statetest.NewStore(t), files{"a": "later", "b": "new"}
	before, after := statetest.NewState(t, store, files{"a": "old", "b": "old"}), statetest.NewState(t, store, files{"a": "new", "b": "new"})
	disk := fakeDisk{now, now, ""}
	p, err := Make(t.Context(), store, disk, disk.capture(t, store), before, takeBack(t, store, before, after, Fail))
	if p != nil || !errors.Is(err, state.ErrConflict) || !strings.HasSuffix(err.Error(), ": a") {
		t.Errorf("got %v, %v", p, err)
	}
}
