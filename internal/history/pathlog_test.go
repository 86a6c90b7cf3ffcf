package history_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// lineOf is the ref of one of several lines.
func lineOf(n int) string { return history.RefTracks + fmt.Sprint("2026-01-0", n+1) }

// look is a checkpoint that a test made, with the content of the file "a" at it and at the
// checkpoint before it on its line.
type look struct {
	*history.Checkpoint
	content, before string
}

// TestOrderWithinASecond appends to several lines within a few seconds: the list has the order of
// the times in nanoseconds, also around the turn of a second.
func TestOrderWithinASecond(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	random := rand.New(rand.NewPCG(1, 1))
	var want []string
	for i := range 60 {
		s := statetest.NewState(t, f.Store, map[string]string{"a": fmt.Sprint(i)})
		want = append(want, statetest.Append(t, f.Store, lineOf(random.IntN(4)), s, history.StateLabel{}).ID)
	}
	slices.Reverse(want)
	var got []string
	for c, err := range f.Checkpoints(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the order is\n%q, want\n%q", got, want)
	}
}

// told lists the looks that a log of the file has to tell, the newest first. Each change of the file
// begins a run of looks.
func told(looks []look) (ids []string) {
	for end := len(looks); end > 0; {
		first := end - 1
		for first > 0 && looks[first-1].content == looks[end-1].content {
			first--
		}
		run := looks[first:end]
		end = first
		if run[0].content == "" && first == 0 {
			break // the file was never there before
		}
		var own, named []string
		for _, l := range slices.Backward(run) {
			if l.Parent == "" || l.before == l.content {
				continue
			}
			own = append(own, l.ID)
			if l.Author != history.DefaultAuthor {
				named = append(named, l.ID)
			}
		}
		switch {
		case len(named) > 0:
			ids = append(ids, named...)
		case len(own) > 0:
			ids = append(ids, own[len(own)-1])
		default:
			ids = append(ids, run[0].ID)
		}
	}
	return ids
}

// TestPathLogTellsOnce compares the log of a file with the runs of looks at it, on several lines
// that see the same changes.
func TestPathLogTellsOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(gittest.Rounds(200)) {
		f := newPast(t)
		random := rand.New(rand.NewPCG(seed, 7))
		var looks []look
		last := make(map[string]string)
		content := ""
		for i := range 3 + random.IntN(25) {
			if random.IntN(3) == 0 {
				content = []string{"", "1", "2", "3"}[random.IntN(4)]
			}
			files := map[string]string{"b": fmt.Sprint(i)}
			if content != "" {
				files["a"] = content
			}
			line := lineOf(random.IntN(3))
			label := history.StateLabel{Author: []string{"", "agent"}[random.IntN(2)]}
			c := statetest.Append(t, f.Store, line, statetest.NewState(t, f.Store, files), label)
			looks = append(looks, look{c, content, last[line]})
			last[line] = content
		}
		var got []string
		for c, err := range f.LogOf(t.Context(), history.LogOptions{Paths: []string{"a"}}) {
			if err != nil {
				wantError(t, err, state.ErrNotFound)
				break
			}
			got = append(got, c.ID)
			checkCompared(t, f, c)
		}
		if want := told(looks); !slices.Equal(got, want) {
			t.Fatalf("seed %d: the log is %q, want %q", seed, got, want)
		}
	}
}

// checkCompared checks that the file differs between a checkpoint of its log and the one that this is
// compared with.
func checkCompared(t *testing.T, f *past, c *history.Checkpoint) {
	t.Helper()
	content := func(id string) string {
		if id == "" {
			return ""
		}
		for e, err := range f.List(t.Context(), id, "a") {
			if err != nil {
				return ""
			}
			return e.ID
		}
		return ""
	}
	if content(c.ID) == content(c.ComparedWith()) {
		t.Errorf("%s does not differ from %s", c.ID, c.ComparedWith())
	}
}
