package session_test

import (
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestEndIsOnePack: the state after a step and the event of its end are published together, so that an agent waits for
// the disk once. So they are where the step changed nothing, and where its tool names paths that no capture holds.
func TestEndIsOnePack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*fixture)
		stays  []session.UncapturedChange
	}{
		"files":     {change: func(f *fixture) { f.write("new/deep/c", "c\n"); f.remove("a") }},
		"nothing":   {change: func(*fixture) {}},
		"directory": {change: func(f *fixture) { f.remove("d") }},
		"ignored": {
			change: func(f *fixture) { f.write("ignored", "i\n"); f.write("new/c", "c\n") },
			stays:  []session.UncapturedChange{{Path: "ignored"}, {Path: "new/c"}, {Path: "new/x"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{".gitignore": gittest.File("ignored\n"), "a": gittest.File("a\n"), "d/b": gittest.File("b\n")})
			f.begin("s", "m", "1", "new/c")
			c.change(f)
			end := session.StepEnd{Session: "s", Step: "1"}
			if c.stays != nil {
				part, err := session.UncapturedPart("p", c.stays)
				if err != nil {
					t.Fatal(err)
				}
				end.Parts = []session.Part{part}
			}
			before := f.packs()
			if _, err := f.EndStep(background, end); err != nil {
				t.Fatal(err)
			}
			if n := f.packs() - before; n != 1 {
				t.Errorf("the end is %d packs", n)
			}
			f.reopen()
			f.revert("s", session.Target{Message: "m"})
			for name, want := range map[string]string{"a": "a\n", "d/b": "b\n", "new/c": "(absent)", "new/deep/c": "(absent)"} {
				if got := f.read(name); got != want {
					t.Errorf("after the revert %s is %q, want %q", name, got, want)
				}
			}
		})
	}
}

// packs counts the packs of the store.
func (f *fixture) packs() int {
	f.Helper()
	found, err := filepath.Glob(filepath.Join(f.repo.StoreDir(), "objects", "pack", "*.pack"))
	if err != nil {
		f.Fatal(err)
	}
	return len(found)
}
