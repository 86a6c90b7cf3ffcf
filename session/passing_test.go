package session_test

import (
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestLinesThatPassWithinAStep: a step writes a line, a checkpoint of the day sees it, and the step takes it away
// again. So its end has the state of its beginning, and only its capture tells who deleted the line: not the next
// step, and not the user.
func TestLinesThatPassWithinAStep(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"f": gittest.File("a\n"), "other": gittest.File("1\n")})
	track := func(message string) {
		t.Helper()
		if _, err := f.repo.Track(background, cairn.TrackOptions{Message: message}); err != nil {
			t.Fatal(err)
		}
	}
	track("first")
	f.step("s", "m1", "1", func() { f.write("other", "2\n") })
	f.step("s", "m2", "2", func() { f.write("f", "a\npasses\n"); track("within"); f.write("f", "a\n") })
	f.write("other", "3\n")
	track("later")
	f.step("s", "m3", "3", func() { f.write("other", "4\n") })

	b, err := f.Blame(background, "f", cairn.BlameOptions{Deleted: true})
	if err != nil || len(b.Deleted) != 1 {
		t.Fatalf("%+v, %v", b, err)
	}
	for what, at := range map[string]int{"wrote": b.Deleted[0].Origin, "deleted": b.Deleted[0].By} {
		if o := b.Origins[at]; o.Work == nil || o.Work.Step != "2" {
			t.Errorf("who %s the line: %+v", what, o)
		}
	}
	var got []string
	for c, err := range f.repo.Log(background, cairn.LogOptions{Paths: []string{"f"}}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c.Author+": "+c.Message)
	}
	want := []string{session.AuthorAgent + ": step 2: 0 files", "user: within", "user: first"}
	if !slices.Equal(got, want) {
		t.Errorf("log: got %q, want %q", got, want)
	}
}
