package operation

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

type files = map[string]string

const text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"

// edited is the text with some of its lines, numbered from 1, written out.
func edited(line ...string) string {
	lines := strings.SplitAfter(text, "\n")
	for _, l := range line {
		lines[l[0]-'1'] = l + "\n"
	}
	return strings.Join(lines, "")
}

func step(from, to string) UndoneStep { return UndoneStep{Step: plan.Step{From: from, To: to}} }

// stepsCase takes steps out of the state "now". States are named; the reasons of what stays
// are "kept" or "conflict", the path and the reason.
type stepsCase struct {
	name   string
	states map[string]files
	steps  []UndoneStep
	policy plan.Policy // "" = Merge
	want   files
	stays  []string
}

var stepsCases = []stepsCase{
	{
		name:   "nothing since",
		states: map[string]files{"0": {"a": "old", "b": "x"}, "now": {"a": "new", "c": "y"}},
		steps:  []UndoneStep{step("0", "now")}, want: files{"a": "old", "b": "x"},
	},
	{
		name:   "another path changed since",
		states: map[string]files{"0": {"a": "old"}, "1": {"a": "new"}, "now": {"a": "new", "b": "later"}},
		steps:  []UndoneStep{step("0", "1")}, want: files{"a": "old", "b": "later"},
	},
	{
		name:   "back already",
		states: map[string]files{"0": {"a": "old"}, "1": {"a": "new"}, "now": {"a": "old"}},
		steps:  []UndoneStep{step("0", "1")}, want: files{"a": "old"},
	},
	{
		name:   "merged with what was changed since",
		states: map[string]files{"0": {"a": text}, "1": {"a": edited("1 step")}, "now": {"a": edited("1 step", "9 since")}},
		steps:  []UndoneStep{step("0", "1")}, want: files{"a": edited("9 since")},
	},
	{
		name:   "overlap",
		states: map[string]files{"0": {"a": text}, "1": {"a": edited("1 step")}, "now": {"a": edited("1 since")}},
		steps:  []UndoneStep{step("0", "1")}, want: files{"a": edited("1 since")},
		stays: []string{"conflict a: changed since, and the changes overlap"},
	},
	{
		name:   "overwrite",
		states: map[string]files{"0": {"a": text}, "1": {"a": edited("1 step")}, "now": {"a": edited("1 since")}},
		steps:  []UndoneStep{step("0", "1")}, policy: plan.Overwrite, want: files{"a": text},
	},
	{
		name:   "keep",
		states: map[string]files{"0": {"a": text, "b": "old"}, "1": {"a": edited("1 step"), "b": "new"}, "now": {"a": edited("1 since"), "b": "new"}},
		steps:  []UndoneStep{step("0", "1")}, policy: plan.Keep, want: files{"a": edited("1 since"), "b": "old"},
		stays: []string{"kept a: changed since"},
	},
	{
		name:   "fail",
		states: map[string]files{"0": {"a": text}, "1": {"a": edited("1 step")}, "now": {"a": edited("1 since")}},
		steps:  []UndoneStep{step("0", "1")}, policy: plan.Fail, want: files{"a": edited("1 since")},
		stays: []string{"conflict a: changed since"},
	},
	{
		name:   "deleted since",
		states: map[string]files{"0": {"a": "old"}, "1": {"a": "new"}, "now": {}},
		steps:  []UndoneStep{step("0", "1")}, want: files{},
		stays: []string{"conflict a: deleted since"},
	},
	{
		name:   "two steps in a row",
		states: map[string]files{"0": {"a": text}, "1": {"a": edited("1 first")}, "now": {"a": edited("1 second")}},
		steps:  []UndoneStep{step("0", "1"), step("1", "now")}, want: files{"a": text},
	},
	{
		name: "two steps in a row are one where each alone could not be merged",
		states: map[string]files{
			"0": {"a": text}, "1": {"a": edited("1 first")}, "2": {"a": edited("9 second")}, "now": {"a": edited("1 since", "9 second")},
		},
		steps: []UndoneStep{step("0", "1"), step("1", "2")}, want: files{"a": edited("1 since")},
	},
	{
		name: "a change between two steps stays",
		states: map[string]files{
			"0": {"a": text}, "1": {"a": edited("1 first")}, "2": {"a": edited("1 first", "5 between")}, "now": {"a": edited("1 first", "5 between", "9 second")},
		},
		steps: []UndoneStep{step("0", "1"), step("2", "now")}, want: files{"a": edited("5 between")},
	},
	{
		name: "as far as it goes",
		states: map[string]files{
			"0": {"a": text}, "1": {"a": edited("1 first")}, "2": {"a": edited("1 between")}, "now": {"a": edited("1 between", "9 second")},
		},
		steps: []UndoneStep{step("0", "1"), step("2", "now")}, want: files{"a": edited("1 between")},
		stays: []string{"conflict a: changed since, and the changes overlap"},
	},
	{
		name:   "claimed by another session",
		states: map[string]files{"0": {"a": "old", "b": "old"}, "now": {"a": "new", "b": "new"}},
		steps: []UndoneStep{{
			Step: plan.Step{From: "0", To: "now"}, Others: []plan.Step{{Session: "other", From: "0", To: "now", Claims: []string{"a"}}},
		}},
		want:  files{"a": "new", "b": "new"},
		stays: []string{"conflict b: also changed during a step of session other", "kept a: belongs to session other"},
	},
	{
		name:   "claimed by the step itself",
		states: map[string]files{"0": {"a": "old"}, "now": {"a": "new"}},
		steps: []UndoneStep{{
			Step: plan.Step{From: "0", To: "now", Claims: []string{"a"}}, Others: []plan.Step{{Session: "other", From: "0", To: "now"}},
		}},
		want: files{"a": "old"},
	},
	{
		name:   "ignored before the step",
		states: map[string]files{"0": {".gitignore": "*.log\n"}, "now": {".gitignore": "*.log\n", "a.log": "new"}},
		steps:  []UndoneStep{step("0", "now")}, want: files{".gitignore": "*.log\n", "a.log": "new"},
		stays: []string{"kept a.log: ignored at the target, so it may have existed"},
	},
	{
		name:   "ignored before the step, and known to have been absent",
		states: map[string]files{"0": {".gitignore": "*.log\n"}, "now": {".gitignore": "*.log\n", "a.log": "new"}},
		steps:  []UndoneStep{{Step: plan.Step{From: "0", To: "now"}, Made: []string{"a.log"}}}, want: files{".gitignore": "*.log\n"},
	},
	{
		name:   "ignored before the step, and captured within it",
		states: map[string]files{"0": {".gitignore": "*.log\n"}, "hint": {"a.log": "old"}, "now": {".gitignore": "*.log\n", "a.log": "new"}},
		steps:  []UndoneStep{{Step: plan.Step{From: "0", To: "now"}, Hints: []Hint{{"hint", []string{"a.log"}}}}},
		want:   files{".gitignore": "*.log\n", "a.log": "old"},
	},
	{
		name:   "made within the step before a later tool named it",
		states: map[string]files{"0": {"b": "old"}, "hint": {"a": "made", "b": "old"}, "now": {"a": "made", "b": "old", "c": "new"}},
		steps:  []UndoneStep{{Step: plan.Step{From: "0", To: "now"}, Hints: []Hint{{"hint", []string{"a"}}}}},
		want:   files{"b": "old"},
	},
	{
		name:   "renamed, and changed since",
		states: map[string]files{"0": {"a": text}, "1": {"b": text}, "now": {"b": edited("1 since")}},
		steps:  []UndoneStep{step("0", "1")}, want: files{"b": edited("1 since")},
		stays: []string{"conflict a: the other half of a rename stays: b", "conflict b: changed since"},
	},
	{
		name:   "renamed by two steps",
		states: map[string]files{"0": {"a": text}, "1": {"b": text}, "2": {"c": text}, "now": {"c": text}},
		steps:  []UndoneStep{step("0", "1"), step("1", "2")}, want: files{"a": text},
	},
	{
		name:   "renamed by two steps, and changed since",
		states: map[string]files{"0": {"a": text}, "1": {"b": text}, "2": {"c": text}, "now": {"c": edited("1 since")}},
		steps:  []UndoneStep{step("0", "1"), step("1", "2")}, want: files{"c": edited("1 since")},
		stays: []string{"conflict a: the other half of a rename stays: c", "conflict c: changed since"},
	},
	{
		name:   "renamed by two steps, of which the second is taken back",
		states: map[string]files{"0": {"a": text}, "1": {"b": text}, "2": {"c": text}, "now": {"c": edited("1 since")}},
		steps:  []UndoneStep{step("1", "2")}, want: files{"c": edited("1 since")},
		stays: []string{"conflict b: the other half of a rename stays: c", "conflict c: changed since"},
	},
	{
		name: "renamed by three steps, there and back and there again, and changed since",
		states: map[string]files{
			"0": {"a": text}, "1": {"b": text}, "2": {"a": text}, "3": {"c": text}, "now": {"c": edited("1 since")},
		},
		steps: []UndoneStep{step("0", "1"), step("1", "2"), step("2", "3")}, want: files{"c": edited("1 since")},
		stays: []string{"conflict a: the other half of a rename stays: c", "conflict c: changed since"},
	},
	{
		name:   "a directory stands in place of a file",
		states: map[string]files{"0": {"a": "old"}, "1": {}, "now": {"a/b": "since"}},
		steps:  []UndoneStep{step("0", "1")}, want: files{"a/b": "since"},
		stays: []string{"conflict a: something else stands there now: a/b"},
	},
	{
		name:   "a file stands in place of a directory",
		states: map[string]files{"0": {"a/b": "old"}, "1": {}, "now": {"a": "since"}},
		steps:  []UndoneStep{step("0", "1")}, want: files{"a": "since"},
		stays: []string{"conflict a/b: something else stands there now: a"},
	},
	{
		name:   "a directory that the step filled",
		states: map[string]files{"0": {"d/": ""}, "now": {"d/a": "new"}},
		steps:  []UndoneStep{step("0", "now")}, want: files{"d/": ""},
	},
	{
		name:   "a directory that the step made",
		states: map[string]files{"0": {}, "1": {"d/a": "new", "e/": ""}, "now": {"d/a": "new", "d/b": "since", "e/": ""}},
		steps:  []UndoneStep{step("0", "1")}, want: files{"d/b": "since"},
	},
	{
		name:   "an empty directory that the step removed",
		states: map[string]files{"0": {"d/": ""}, "now": {}},
		steps:  []UndoneStep{step("0", "now")}, want: files{"d/": ""},
	},
	{
		name:   "a directory that an older step made",
		states: map[string]files{"0": {}, "1": {"d/a": "new"}, "now": {"d/b": "new"}},
		steps:  []UndoneStep{step("0", "1"), step("1", "now")}, want: files{},
	},
	{
		name:   "a directory that an older step made and a later one emptied",
		states: map[string]files{"0": {}, "1": {"d/a": "new"}, "now": {"d/": ""}},
		steps:  []UndoneStep{step("0", "1"), step("1", "now")}, want: files{},
	},
	{
		name:   "an empty directory that an older step removed and a later one made",
		states: map[string]files{"0": {"d/": ""}, "1": {}, "now": {"d/a": "new"}},
		steps:  []UndoneStep{step("0", "1"), step("1", "now")}, want: files{"d/": ""},
	},
}

// TestStepsBack takes steps out of states, without a disk.
func TestStepsBack(t *testing.T) {
	t.Parallel()
	for _, c := range stepsCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store := statetest.NewStore(t)
			states := make(map[string]state.State)
			for name, files := range c.states {
				states[name] = statetest.NewState(t, store, files)
			}
			if c.policy == "" {
				c.policy = plan.Merge
			}
			b := newStepsBack(store, func(_ context.Context, id string) (state.State, error) { return states[id], nil }, states["now"], c.policy)
			if err := b.resolveAll(t.Context(), c.steps); err != nil {
				t.Fatal(err)
			}
			if got := listed(t, store, stored(t, b)); !maps.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := b.stays(); !slices.Equal(got, c.stays) {
				t.Errorf("stays %q, want %q", got, c.stays)
			}
		})
	}
}

// stored writes the state without the steps.
func stored(t *testing.T, b *stepsBack) state.State {
	t.Helper()
	batch := b.store.DB.NewBatch()
	defer batch.Discard()
	s, err := b.state(t.Context(), batch)
	if err == nil {
		err = batch.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// listed reads a state as statetest.NewState takes it.
func listed(t *testing.T, store *history.Store, s state.State) files {
	t.Helper()
	out := make(files)
	for _, dir := range s.Meta.Empty {
		out[string(dir)+"/"] = ""
	}
	for c, err := range store.CompareTrees(t.Context(), object.EmptyTree, s.Tree, nil) {
		if err != nil {
			t.Fatal(err)
		}
		content, err := store.Blob(c.New)
		if err != nil {
			t.Fatal(err)
		}
		out[c.Path] = string(content)
	}
	return out
}

func (b *stepsBack) stays() []string {
	var out []string
	for label, list := range map[string][]state.PathReason{"kept ": b.kept, "conflict ": b.conflicts} {
		for _, s := range list {
			out = append(out, label+string(s.Path)+": "+s.Reason)
		}
	}
	slices.Sort(out)
	return out
}
