package cairn_test

import (
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestLogOfUncaptured: a checkpoint that left a path out is no change of the path, and neither is the
// next one that has it again.
func TestLogOfUncaptured(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"f": gittest.File("a\n"), "g": gittest.File("1")})
	r := f.repo()
	trackedAs(t, r, "one")
	f.write("f", "b\n")
	trackedAs(t, r, "two")
	for _, text := range []string{"2", "3"} {
		f.write("g", text)
		if _, err := r.Track(background, cairn.TrackOptions{Paths: []string{"g"}, OnlyPaths: true, Message: "only g: " + text}); err != nil {
			t.Fatal(err)
		}
	}
	f.write("new", "")
	trackedAs(t, r, "three")
	f.write("f", "c\n")
	trackedAs(t, r, "four")
	for path, want := range map[string][]string{"f": {"four", "two", "one"}, "g": {"only g: 3", "only g: 2", "one"}} {
		var got []string
		for c, err := range r.Log(background, cairn.LogOptions{Paths: []string{path}}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, c.Message)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the log of %s is %q, want %q", path, got, want)
		}
	}
}
