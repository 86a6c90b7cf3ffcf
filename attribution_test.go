package cairn_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// TestR31_WhatTheUserDidMeanwhileStays: a step names the files that its tools
// wrote; the user works in the same window.
func TestR31_WhatTheUserDidMeanwhileStays(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"agent.go": gittest.File("1\n"), "user.go": gittest.File("1\n")})
	from := f.trackAll()
	f.write("agent.go", "2\n")
	f.write("user.go", "2\n")
	f.write("moved-in", "m\n")
	to := f.trackAll()
	res, err := f.repo().Revert(background, cairn.Range{From: from, To: to}, cairn.RevertOptions{Paths: []string{"agent.go"}})
	if err != nil || !res.Complete() {
		t.Fatalf("%+v, %v", res, err)
	}
	gittest.AssertTree(t, f.root, gittest.Tree{"agent.go": gittest.File("1\n"), "user.go": gittest.File("2\n"), "moved-in": gittest.File("m\n")})
}

// overlapping sets up two sessions whose steps share a window: A edits a, B edits
// b, a shell command of one of them changes shared, both tools touch both.
func overlapping(t *testing.T) (f *fixture, a, b operation.Step) {
	f = newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n"), "shared": gittest.File("1\n"), "both": gittest.File("1\n"), "only-a": gittest.File("1\n")})
	fromA := f.track().Checkpoint
	f.write("only-a", "2\n")
	fromB := f.track().Checkpoint
	for _, name := range []string{"a", "b", "shared", "both"} {
		f.write(name, "2\n")
	}
	to := f.track().Checkpoint
	return f, operation.Step{Session: "A", From: fromA, To: to, Claims: []string{f.path("a"), "both"}},
		operation.Step{Session: "B", From: fromB, To: to, Claims: []string{"b", "both", "/elsewhere/b"}}
}

func takenBack(back *operation.TakenBack, err error) (*cairn.Result, error) {
	if err != nil {
		return nil, err
	}
	return back.Result, nil
}

// takeBackBeside takes a step back beside another that overlaps it.
func (f *fixture) takeBackBeside(step, other operation.Step, policy cairn.Policy) (res *cairn.Result, err error) {
	err = access.Lines(f.repo()).Update(f.Context(), func(u *operation.LineUpdate) (err error) {
		steps := []operation.UndoneStep{{Step: step, Others: []operation.Step{other}}}
		res, err = takenBack(u.TakeBack(f.Context(), "line", operation.TakeBack{Kind: "revert", Steps: steps, OnConflict: policy}))
		return err
	})
	return res, err
}

func TestR32_OverlappingSessions(t *testing.T) {
	t.Parallel()
	f, a, b := overlapping(t)
	res, err := f.takeBackBeside(a, b, cairn.Merge)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(res.Restored, []string{"a", "only-a"}) {
		t.Errorf("restored %q", res.Restored)
	}
	if len(res.Kept) != 1 || res.Kept[0].Path != "b" || !strings.Contains(res.Kept[0].Reason, "B") {
		t.Errorf("kept %v", res.Kept)
	}
	if len(res.Conflicts) != 2 || res.Conflicts[0].Path != "both" || res.Conflicts[1].Path != "shared" {
		t.Errorf("conflicts %v", res.Conflicts)
	}
}

func TestR32_OverwriteTakesTheSharedBack(t *testing.T) {
	t.Parallel()
	f, a, b := overlapping(t)
	res, err := f.takeBackBeside(b, a, cairn.Overwrite)
	if err != nil || !res.Complete() {
		t.Fatalf("%+v, %v", res, err)
	}
	if f.read("shared") != "1\n" || f.read("only-a") != "2\n" {
		t.Errorf("shared %q, only-a %q", f.read("shared"), f.read("only-a"))
	}
}

// TestR32_SeparateSteps: steps that do not overlap need no claims; each session's
// revert leaves the other's later work.
func TestR32_SeparateSteps(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"x": gittest.File(lines(20, nil))})
	one := f.trackAll()
	f.write("x", lines(20, map[int]string{1: "session A"}))
	two := f.trackAll()
	f.write("x", lines(20, map[int]string{1: "session A", 18: "session B"}))
	f.write("b", "session B")
	f.trackAll()
	if res, err := f.repo().Revert(background, cairn.Range{From: one, To: two}, cairn.RevertOptions{}); err != nil || !res.Complete() {
		t.Fatalf("%+v, %v", res, err)
	}
	gittest.AssertTree(t, f.root, gittest.Tree{"x": gittest.File(lines(20, map[int]string{18: "session B"})), "b": gittest.File("session B")})
}

func TestAuthorsAreRecorded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	r := f.repo()
	for i, author := range []string{"", "agent", "some <odd>\nname"} {
		f.write("a", strings.Repeat("x", i))
		if _, err := r.Track(background, cairn.TrackOptions{Author: author}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for c, err := range r.Checkpoints(background) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c.Author)
	}
	if !slices.Equal(got, []string{"some oddname", "agent", "user"}) {
		t.Errorf("%q", got)
	}
}
