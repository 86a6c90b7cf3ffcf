package session_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestSessionHunksMergeAsGitDoes takes random hunks of several random steps back, between and after
// which the user edits. The oracle knows git alone: "git merge-file" takes the steps out of the
// text after the last one, "git apply -R" takes the chosen hunks out of it, and "git merge-file"
// brings that to the disk.
func TestSessionHunksMergeAsGitDoes(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	r := rand.New(rand.NewPCG(7, 8))
	count := make(map[string]int)
	for range gittest.Rounds(60) {
		c := &hunkCase{r: r}
		c.check(t, o, count)
	}
	for _, what := range []string{"clean", "conflict", "between"} {
		if count[what] == 0 && !testing.Short() {
			t.Errorf("no case was %q: %v", what, count)
		}
	}
}

// hunkCase is a file with the steps of a session. A cell holds the lines that stand where one line
// of the start stood, so that no edit moves another.
type hunkCase struct {
	r     *rand.Rand
	cells [][]string
	next  int
	end   string      // behind the last line
	ends  [][2]string // texts around the steps that changed any
}

func (c *hunkCase) text() string {
	return strings.Join(slices.Concat(c.cells...), "\n") + c.end
}

// edit changes some cells: the agent's, or the user's own and a few of the agent's.
func (c *hunkCase) edit(user bool) {
	for i := range c.cells {
		mine := i%9 == 4
		if user {
			mine = i%9 == 8 || mine && c.r.IntN(6) == 0
		}
		if !mine {
			continue
		}
		c.next++
		line := fmt.Sprint("edit ", c.next, []string{"", "\r"}[c.r.IntN(2)])
		switch c.r.IntN(6) {
		case 0:
			c.cells[i] = []string{line}
		case 1:
			c.cells[i] = append(slices.Clip(c.cells[i]), line)
		case 2:
			c.cells[i] = nil
		}
	}
}

func (c *hunkCase) check(t *testing.T, o *gittest.Oracle, count map[string]int) {
	t.Helper()
	for i := range 30 + c.r.IntN(60) {
		c.cells = append(c.cells, []string{fmt.Sprint("line ", i)})
	}
	c.end = []string{"", "\n"}[c.r.IntN(2)]
	f := newFixture(t, gittest.Tree{"a": gittest.File(c.text())})
	for i := range 1 + c.r.IntN(4) {
		from := c.text()
		f.step("s", fmt.Sprint("m", i), fmt.Sprint(i), func() { c.edit(false); f.write("a", c.text()) })
		if from != c.text() {
			c.ends = append(c.ends, [2]string{from, c.text()})
		}
		if c.r.IntN(2) == 0 {
			c.edit(true)
			f.write("a", c.text())
			count["between"]++
		}
	}
	if len(c.ends) == 0 {
		return
	}
	before := c.before(o)
	chosen, patch := c.choose(f, before)
	if len(chosen) == 0 {
		return
	}
	after := c.ends[len(c.ends)-1][1]
	want, clean := o.MergeFile(c.text(), after, o.ApplyReverse(after, patch))
	disk := gittest.Manifest(t, f.root)
	res := f.revertHunks("s", session.Scope{}, cairn.RevertOptions{Hunks: chosen})
	if clean != res.Complete() || f.read("a") != want {
		t.Fatalf("steps %q\nnow %q\npatch %s\ngot %q, %+v\nwant %q", c.ends, c.text(), patch, f.read("a"), res, want)
	}
	if res.Operation != "" {
		f.thereAndBack(disk)
	}
	count[map[bool]string{true: "clean", false: "conflict"}[clean]]++
}

// before is the text after the last step without the steps, as far as they come out cleanly.
func (c *hunkCase) before(o *gittest.Oracle) string {
	last := len(c.ends) - 1
	now := c.ends[last][1]
	for i := last; i >= 0; i-- {
		first, after := i, c.ends[i][1]
		for first > 0 && c.ends[first-1][1] == c.ends[first][0] {
			first--
		}
		merged, clean := o.MergeFile(now, after, c.ends[first][0])
		if !clean {
			break
		}
		now, i = merged, first
	}
	return now
}

// choose picks hunks from the text of a diff, in which they have their names.
func (c *hunkCase) choose(f *fixture, before string) (chosen []string, patch string) {
	f.Helper()
	for d, err := range f.Diff(background, "s", session.Scope{}, cairn.DiffOptions{Hunks: true}) {
		if err != nil || d.Before != before || d.After != c.ends[len(c.ends)-1][1] {
			f.Fatalf("steps %q\nbefore %q, %v\nwant %q", c.ends, d.Before, err, before)
		}
	}
	var text bytes.Buffer
	if err := f.WriteDiff(background, &text, "s", session.Scope{}, cairn.DiffOptions{Hunks: true}); err != nil {
		f.Fatal(err)
	}
	return gittest.SomeHunks(text.String(), func() bool { return c.r.IntN(2) == 0 })
}
