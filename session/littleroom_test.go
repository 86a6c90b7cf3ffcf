package session_test

import (
	"errors"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestWaysBackWithLittleRoom: where less of the disk is free than is to stay free, no step is captured. Sessions go
// back, also with an open step.
func TestWaysBackWithLittleRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	before := gittest.Manifest(t, f.root)
	f.step("s", "m1", "t1", func() { f.write("b", "one\n") })
	f.begin("s", "m2", "t2")
	f.write("a", "two\n")
	after := gittest.Manifest(t, f.root)

	r, err := cairn.Open(cairn.Options{Root: f.root, DataDir: f.data, NoSync: true, Retention: &cairn.Retention{MinFree: 1 << 60}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	s := session.New(r)
	if _, err := s.EndStep(background, session.StepEnd{Session: "s", Step: "t2"}); !errors.Is(err, cairn.ErrNoSpace) {
		t.Errorf("the end of a step: %v", err)
	}
	if _, _, err := s.Revert(background, "s", session.Target{Start: true}, session.MoveOptions{EndOpen: true}); err != nil {
		t.Fatal(err)
	}
	if d := gittest.Diff(before, gittest.Manifest(t, f.root)); d != "" {
		t.Errorf("after the way back:\n%s", d)
	}
	if _, _, err := s.Unrevert(background, "s", session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	if d := gittest.Diff(after, gittest.Manifest(t, f.root)); d != "" {
		t.Errorf("brought back:\n%s", d)
	}
}
