package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestV46_WhatNoCaptureHolds: a host tells what its tools changed; going back lists what
// neither state of the step holds, with the reason, once, and not again when it goes on.
func TestV46_WhatNoCaptureHolds(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("*.log\nbuild/\n"), "a": gittest.File("a\n"), "x.log": gittest.File("1\n"), "build/x": gittest.File("1\n")})
	out := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(out, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.begin("s", "m1", "1", out)
	f.write("a", "2\n")
	for _, path := range []string{"x.log", "build"} {
		if err := os.RemoveAll(f.path(path)); err != nil {
			t.Fatal(err)
		}
	}
	part, err := session.UncapturedPart("p", []session.UncapturedChange{{Path: "a"}, {Path: "x.log"}, {Path: "build/x"}, {Path: "build"}, {Path: "gone.log", Made: true}, {Path: "/nowhere/made", Made: true}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.EndStep(background, session.StepEnd{Session: "s", Step: "1", Parts: []session.Part{part}}); err != nil {
		t.Fatal(err)
	}
	f.begin("s", "m2", "2", out, f.path("a"))
	f.write("a", "3\n")
	if err := os.WriteFile(out, []byte("3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.end("s", "2")
	// The second step tells nothing, so what it named outside counts.
	f.wantStays(session.Target{Message: "m2"}, out+": outside this directory")
	f.wantStays(session.Target{Message: "m1"}, "build: ignored by rules", "x.log: ignored by rules")
	f.wantStays(session.Target{Message: "m2"})
	if f.read("a") != "2\n" {
		t.Errorf("a is %q", f.read("a"))
	}
}

// TestStaysOfALateStep: a tool comes back after its session was taken back. Of the paths that its host tells, going
// back lists those that no capture holds.
func TestStaysOfALateStep(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("*.log\n"), "a": gittest.File("a\n"), "x.log": gittest.File("1\n")})
	f.begin("s", "m", "1")
	if _, _, err := f.Revert(background, "s", session.Target{Message: "m"}, session.MoveOptions{EndOpen: true}); err != nil {
		t.Fatal(err)
	}
	f.write("a", "b\n")
	f.remove("x.log")
	part, err := session.UncapturedPart("p", []session.UncapturedChange{{Path: "a"}, {Path: "x.log"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.EndStep(background, session.StepEnd{Session: "s", Step: "1", Parts: []session.Part{part}}); err != nil {
		t.Fatal(err)
	}
	f.wantStays(session.Target{Message: "m"}, "x.log: ignored by rules")
	if f.read("a") != "a\n" {
		t.Errorf("a is %q", f.read("a"))
	}
}

func (f *fixture) wantStays(to session.Target, want ...string) {
	f.Helper()
	_, res := f.revert("s", to)
	var got []string
	for _, p := range res.NotTakenBack {
		got = append(got, string(p.Path)+": "+p.Reason)
	}
	if len(got) != len(want) || !res.Complete() {
		f.Fatalf("%+v: not taken back: %q, want %q; %+v", to, got, want, res)
	}
	for i := range want {
		if got[i] != want[i] {
			f.Errorf("%+v: not taken back: %q, want %q", to, got[i], want[i])
		}
	}
}
