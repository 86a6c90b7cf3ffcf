package session_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

func (f *fixture) revertSteps(steps []string, opt cairn.RevertOptions) *cairn.Result {
	f.Helper()
	res, err := f.RevertSteps(background, "s", steps, opt)
	if err != nil {
		f.Fatal(err)
	}
	return res
}

// fourSteps changes line 2i of a and the file of the step in each of four steps of two turns. The
// user changes line 1 between them.
func fourSteps(t *testing.T) (f *fixture, edits map[int]string) {
	f = newFixture(t, gittest.Tree{"a": gittest.File(lines(26, nil))})
	edits = make(map[int]string)
	for i, step := range []string{"1", "2", "3", "4"} {
		f.step("s", "m"+map[bool]string{true: "1", false: "2"}[i < 2], step, func() {
			edits[6*i+3] = step
			f.write("a", lines(26, edits))
			f.write("dir"+step+"/new", step+"\n")
		})
		edits[1] = "user " + step
		f.write("a", lines(26, edits))
	}
	return f, edits
}

// Chosen steps go back in one operation. The other steps, and what the user wrote, stay.
func TestChosenStepsGoBack(t *testing.T) {
	t.Parallel()
	f, edits := fourSteps(t)
	before := gittest.Manifest(t, f.root)
	dry := f.revertSteps([]string{"3", "1"}, cairn.RevertOptions{DryRun: true})
	gittest.AssertEqual(t, "dry run", before, gittest.Manifest(t, f.root))
	res := f.revertSteps([]string{"1", "3"}, cairn.RevertOptions{Plan: dry.PlanID})
	want := maps.Clone(edits)
	delete(want, 3)
	delete(want, 15)
	if got := f.read("a"); got != lines(26, want) || !res.Complete() || res.Operation == "" {
		t.Errorf("%+v\n%s", res, got)
	}
	for step, there := range map[string]bool{"1": false, "2": true, "3": false, "4": true} {
		if _, err := os.Lstat(filepath.Join(f.root, "dir"+step)); (err == nil) != there {
			t.Errorf("the directory of step %s: %v", step, err)
		}
	}
	f.thereAndBack(before)
	if s := f.get("s"); s.Revert != nil || s.Steps != 4 {
		t.Errorf("the session has moved: %+v", s)
	}
	if again := f.revertSteps([]string{"1", "3"}, cairn.RevertOptions{}); again.Operation != "" || !again.Complete() {
		t.Errorf("once more: %+v", again)
	}
	f.revert("s", session.Target{Message: "m1"}) // the whole session goes over what is gone already
	if got := f.read("a"); got != lines(26, map[int]string{1: "user 4"}) {
		t.Errorf("the session without its steps: %s", got)
	}
	gittest.NewOracle(t).Fsck(f.repo.StoreDir())
}

// Paths and hunks narrow chosen steps down.
func TestChosenStepsNarrowedDown(t *testing.T) {
	t.Parallel()
	f, edits := fourSteps(t)
	res := f.revertSteps([]string{"2", "3"}, cairn.RevertOptions{Paths: []string{"dir2"}})
	if _, err := os.Lstat(filepath.Join(f.root, "dir2")); !errors.Is(err, os.ErrNotExist) || f.read("dir3/new") != "3\n" || f.read("a") != lines(26, edits) {
		t.Errorf("%+v, %v", res, err)
	}
	own, err := f.OwnChangesOf(background, "s", []string{"2", "3"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for d, err := range own.FileDiffs(background, own.List, cairn.DiffOptions{Hunks: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if d.File == "a" {
			names = append(names, d.Hunks[0].ID)
			if len(d.Hunks) != 2 {
				t.Errorf("hunks %+v", d.Hunks)
			}
		}
	}
	f.revertSteps([]string{"2", "3"}, cairn.RevertOptions{Hunks: names})
	delete(edits, 9)
	if got := f.read("a"); got != lines(26, edits) {
		t.Errorf("with the hunk %q: %s", names, got)
	}
}

// A step on which a later one builds does not come out. Its path stays, and is a conflict.
func TestChosenStepUnderALaterOne(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(lines(9, nil))})
	f.step("s", "m1", "1", func() { f.write("a", lines(9, map[int]string{4: "one"})); f.write("b", "1\n") })
	f.step("s", "m2", "2", func() { f.write("a", lines(9, map[int]string{4: "one and two"})) })
	res := f.revertSteps([]string{"1"}, cairn.RevertOptions{})
	if len(res.Conflicts) != 1 || res.Conflicts[0].Path != "a" || !slices.Equal(res.Deleted, cairn.Paths{"b"}) || f.read("a") != lines(9, map[int]string{4: "one and two"}) {
		t.Errorf("%+v", res)
	}
}

// The steps of a sub-agent go with the step that called it, and with the whole message that did.
func TestChosenStepsWithSubagents(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	f.begin("s", "m1", "1")
	if _, err := f.Begin(background, session.SessionBegin{ID: "c", Parent: "s"}); err != nil {
		t.Fatal(err)
	}
	f.step("c", "c1", "c1", func() { f.write("sub", "agent\n") })
	f.end("s", "1")
	f.step("s", "m1", "2", func() { f.write("a", "2\n") })
	f.revertSteps([]string{"2"}, cairn.RevertOptions{})
	if f.read("sub") != "agent\n" || f.read("a") != "a\n" {
		t.Errorf("sub %q, a %q", f.read("sub"), f.read("a"))
	}
	f.revertSteps([]string{"1"}, cairn.RevertOptions{})
	if _, err := os.Lstat(filepath.Join(f.root, "sub")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the work of the sub-agent: %v", err)
	}
}

func TestChosenStepsThatAreNotThere(t *testing.T) {
	t.Parallel()
	f, _ := fourSteps(t)
	f.begin("s", "m3", "5")
	for what, c := range map[string]struct {
		id    string
		steps []string
		opt   cairn.RevertOptions
		want  error
	}{
		"an unknown session": {"x", []string{"1"}, cairn.RevertOptions{}, session.ErrNotFound},
		"an unknown step":    {"s", []string{"1", "9"}, cairn.RevertOptions{}, session.ErrNotFound},
		"an open step":       {"s", []string{"5"}, cairn.RevertOptions{}, session.ErrBusy},
		"another plan":       {"s", []string{"1"}, cairn.RevertOptions{Plan: "0123456789abcdef"}, cairn.ErrMoved},
		"a path outside":     {"s", []string{"1"}, cairn.RevertOptions{Paths: []string{"../x"}}, cairn.ErrOutside},
		"an unknown hunk":    {"s", []string{"1"}, cairn.RevertOptions{Hunks: []string{"000000000000"}}, cairn.ErrNotFound},
	} {
		if res, err := f.RevertSteps(background, c.id, c.steps, c.opt); !errors.Is(err, c.want) {
			t.Errorf("%s: %+v, %v", what, res, err)
		}
	}
	if _, err := f.RevertSteps(background, "s", nil, cairn.RevertOptions{}); err == nil {
		t.Error("no steps are taken back")
	}
	f.revertSteps([]string{"1"}, cairn.RevertOptions{}) // beside the open one
}

// TestRandomStepsGoBack takes random steps of a session back, in random order and in two operations.
// The steps and the user write lines of their own, so the model needs no merge: a line is as at first
// if its step has gone back.
func TestRandomStepsGoBack(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 12))
	for round := range gittest.Rounds(20) {
		f := newFixture(t, gittest.Tree{"a": gittest.File(lines(26, nil))})
		edits, of := make(map[int]string), make(map[string][]int) // line -> text, step -> lines
		free := r.Perm(9)                                         // every third line, so that no two changes touch
		var steps []string
		for len(free) > 0 {
			n := 1 + r.IntN(min(3, len(free)))
			user := r.IntN(3) == 0
			step := fmt.Sprint("step", len(steps))
			if user {
				step = "user"
			}
			work := func() {
				for _, at := range free[:n] {
					edits[3*at] = fmt.Sprint(step, " line ", at)
					of[step] = append(of[step], 3*at)
				}
				f.write("a", lines(26, edits))
			}
			if user {
				work()
			} else {
				f.step("s", fmt.Sprint("m", r.IntN(2)), step, work)
				steps = append(steps, step)
			}
			free = free[n:]
		}
		if len(steps) == 0 {
			continue
		}
		r.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		before := gittest.Manifest(t, f.root)
		cut := r.IntN(len(steps))
		for _, chosen := range [][]string{steps[:cut], steps[cut:]} {
			for _, step := range chosen {
				for _, at := range of[step] {
					delete(edits, at)
				}
			}
			if len(chosen) == 0 {
				continue
			}
			res := f.revertSteps(chosen, cairn.RevertOptions{})
			if got := f.read("a"); got != lines(26, edits) || !res.Complete() {
				t.Fatalf("round %d, steps %v without %q: %+v\n%s", round, of, chosen, res, got)
			}
			f.thereAndBack(before)
			before = gittest.Manifest(t, f.root)
		}
	}
}
