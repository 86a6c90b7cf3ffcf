package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestV06_UnrevertBringsBackALargeFileInADirectorysPlace: a step puts a file that is too
// large for a capture in the place of a directory. A revert with Overwrite takes it, and
// the unrevert brings it back.
func TestV06_UnrevertBringsBackALargeFileInADirectorysPlace(t *testing.T) {
	t.Parallel()
	for _, before := range []gittest.Tree{
		{"d": gittest.Dir()},
		{"d/x": gittest.File("x\n")},
		{"d/e": gittest.Dir()},
		{"d/e/x": gittest.File("x\n"), "d/f": gittest.Dir()},
	} {
		before["program"] = gittest.FileMode("p\n", 0o711) // the only one: its bits are the common ones
		for _, when := range []string{"in the step", "in the open step", "after the step"} {
			for _, policy := range []cairn.Policy{cairn.Merge, cairn.Overwrite} {
				t.Run(when+"/"+string(policy), func(t *testing.T) {
					t.Parallel()
					unrevertALargeFile(t, before, when, policy)
				})
			}
		}
	}
}

// tooLarge sets the size limit of captures and returns the text of a file above it.
func (f *fixture) tooLarge(limit int) string {
	f.maxFile = int64(limit)
	f.reopen()
	return strings.Repeat("large\n", limit/6+1)
}

func unrevertALargeFile(t *testing.T, before gittest.Tree, when string, policy cairn.Policy) {
	f := newFixture(t, before)
	large := f.tooLarge(64 << 10)
	f.begin("s", "m", "1")
	if err := os.Remove(f.path("program")); err != nil {
		t.Fatal(err)
	}
	if when != "after the step" {
		f.replaceAll("d", large)
	}
	if when != "in the open step" {
		f.end("s", "1")
	}
	if when == "after the step" {
		f.replaceAll("d", large)
	}
	now := gittest.Manifest(t, f.root)
	_, reverted, err := f.Revert(background, "s", session.Target{Message: "m"}, session.MoveOptions{EndOpen: true, OnConflict: cairn.Overwrite})
	if err != nil {
		t.Fatal(err)
	}
	_, res, err := f.Unrevert(background, "s", session.MoveOptions{OnConflict: policy})
	if err != nil {
		t.Fatal(err)
	}
	gittest.AssertEqual(t, "after the unrevert", now, gittest.Manifest(t, f.root))
	if t.Failed() {
		t.Logf("revert: %+v\nunrevert: %+v", reverted, res)
	}
}

// replaceAll puts a file in the place of whatever stands at a path.
func (f *fixture) replaceAll(path, text string) {
	f.Helper()
	if err := os.RemoveAll(filepath.Join(f.root, path)); err != nil {
		f.Fatal(err)
	}
	f.write(path, text)
}

// TestV06_RevertWantsOneThingAtAPath: a step removes a file, a directory is made in its
// place, and another step removes that. Only one of the two can come back, and a plan says
// which.
func TestV06_RevertWantsOneThingAtAPath(t *testing.T) {
	t.Parallel()
	for _, made := range []gittest.Tree{{"a/e": gittest.Dir()}, {"a/x": gittest.File("x\n")}, {"a": gittest.Dir()}} {
		for _, policy := range []cairn.Policy{cairn.Merge, cairn.Overwrite} {
			f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("b\n")})
			remove := func() {
				if err := os.RemoveAll(f.path("a")); err != nil {
					t.Fatal(err)
				}
			}
			f.step("s", "m", "1", remove)
			gittest.Create(t, f.root, made)
			f.step("s", "m", "2", remove)
			before := gittest.Manifest(t, f.root)
			plan, res := f.asPlanned("s", session.Target{Message: "m"}, policy)
			if f.read("a") != "1\n" {
				t.Errorf("%s: %+v", policy, res)
			}
			if fmt.Sprint(plan.Conflicts, plan.Kept) != fmt.Sprint(res.Conflicts, res.Kept) {
				t.Errorf("%s: planned %+v, done %+v", policy, plan, res)
			}
			f.unrevert("s")
			gittest.AssertEqual(t, "after the unrevert", before, gittest.Manifest(t, f.root))
		}
	}
}

// asPlanned reverts by the plan of a dry run.
func (f *fixture) asPlanned(id string, to session.Target, policy cairn.Policy) (plan, res *cairn.Result) {
	f.Helper()
	_, plan, err := f.Revert(background, id, to, session.MoveOptions{OnConflict: policy, DryRun: true})
	if err != nil {
		f.Fatal(err)
	}
	_, res, err = f.Revert(background, id, to, session.MoveOptions{OnConflict: policy, Plan: plan.PlanID})
	if err != nil {
		f.Fatal(err)
	}
	return plan, res
}
