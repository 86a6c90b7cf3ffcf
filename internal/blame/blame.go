package blame

import (
	"bytes"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/linediff"
)

// Version is one content of the file.
type Version struct {
	Key      string // equal for equal contents; "" where the file is absent
	Restored bool   // an operation made it, so lines in it may have come back
}

// Line says where a line first appeared.
type Line struct {
	Version int // index of the version
	Number  int // of the line there, from 1
}

// Deleted is a line that is no longer there.
type Deleted struct {
	Line
	By     int // version that lacked it first
	Before int // index of the line of the last version before which it stood
	Text   string
}

// Result is the answer for the last version.
type Result struct {
	Lines   []Line
	Deleted []Deleted // in the order of the file
}

// Options controls Of. The zero value compares as a diff does.
type Options struct {
	Deleted bool // also find the deleted lines
	Diff    func(a, b []byte) []linediff.Edit
}

// Of finds the origin of each line of the last version. content returns the content of a version,
// and is called once for each version with a Key.
//
// content may be called from several goroutines.
func Of(versions []Version, content func(i int) ([]byte, error), opt Options) (*Result, error) {
	t := newTracker(versions, opt)
	read := func(i int) ([]byte, error) {
		if versions[i].Key == "" {
			return nil, nil
		}
		return content(i)
	}
	a := readAhead(len(versions), read, t.opt.Diff)
	defer a.end()
	for i, v := range versions {
		c := a.versionAt(i)
		if c.err != nil {
			return nil, c.err
		}
		t.next(i, v, c)
	}
	return t.result(), nil
}

// alive is the value of tracker.deadBy for a line that is there.
const alive = -1

// tracker follows the identities of lines. An identity is an index into origins.
type tracker struct {
	opt  Options
	last map[string]int // by key: the last version with it

	content []byte
	starts  []int   // of the lines of content, and its end
	lines   []int32 // identities

	origins []Line
	deadBy  []int32 // by identity
	deaths  []int   // by identity: when it died last, as a running number
	texts   map[int32]string
	graves  map[string][]int32 // dead identities by text, in the order of their deaths
	dying   int
	saved   map[string][]int32 // identities of contents that come back later
	order   []int32            // with Options.Deleted: all identities, the dead at their places
}

func newTracker(versions []Version, opt Options) *tracker {
	if opt.Diff == nil {
		opt.Diff = func(a, b []byte) []linediff.Edit { return diffMiddle(a, b, margin, linediff.Diff) }
	}
	t := &tracker{
		opt: opt, last: make(map[string]int), starts: []int{0}, texts: make(map[int32]string), graves: make(map[string][]int32),
		saved: make(map[string][]int32),
	}
	for i, v := range versions {
		t.last[v.Key] = i
	}
	return t
}

// next goes on to a version.
func (t *tracker) next(n int, v Version, c compared) {
	content, edits := c.content, c.edits
	before := t.lines
	starts := lineStarts(content)
	lines := make([]int32, 0, len(starts)-1)
	var added []int // indexes into lines
	at := 0
	for _, e := range edits {
		lines = append(lines, before[at:e.A0]...)
		for i := e.A0; i < e.A1; i++ {
			t.bury(before[i], n, t.content[t.starts[i]:t.starts[i+1]])
		}
		for i := e.B0; i < e.B1; i++ {
			added = append(added, i)
			lines = append(lines, alive)
		}
		at = e.A1
	}
	lines = append(lines, before[at:]...)
	t.content, t.starts, t.lines = content, starts, lines
	if back := t.saved[v.Key]; back != nil {
		added = t.returned(added, back)
	}
	if v.Restored {
		added = t.recall(added)
	}
	for _, i := range added {
		t.lines[i] = t.born(Line{n, i + 1})
	}
	if t.last[v.Key] > n {
		t.saved[v.Key] = t.lines
	}
	if t.opt.Deleted {
		t.reorder(before, edits)
	}
}

func (t *tracker) born(l Line) int32 {
	t.origins = append(t.origins, l)
	t.deadBy = append(t.deadBy, alive)
	t.deaths = append(t.deaths, 0)
	return int32(len(t.origins) - 1)
}

func (t *tracker) text(i int) []byte { return t.content[t.starts[i]:t.starts[i+1]] }

func (t *tracker) bury(id int32, by int, text []byte) {
	t.dying++
	t.deadBy[id], t.deaths[id] = int32(by), t.dying
	known, ok := t.texts[id]
	if !ok || known != string(text) { // it may differ where the comparison ignores something
		known = string(text)
		t.texts[id] = known
	}
	t.graves[known] = append(t.graves[known], id)
}

// revive takes a line out of its grave and puts it at a place of the version.
func (t *tracker) revive(id int32, at int) {
	text := t.texts[id]
	list := t.graves[text]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == id {
			t.graves[text] = append(list[:i], list[i+1:]...)
			break
		}
	}
	t.deadBy[id] = alive
	t.lines[at] = id
}

// returned gives added lines the identities that they had in an equal version, and returns those
// for which there is none.
func (t *tracker) returned(added []int, back []int32) (rest []int) {
	for _, i := range added {
		if id := back[i]; t.deadBy[id] != alive {
			t.revive(id, i)
		} else {
			rest = append(rest, i)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	free := make(map[string][]int32)
	for _, id := range back {
		if t.deadBy[id] != alive {
			free[t.texts[id]] = append(free[t.texts[id]], id)
		}
	}
	added, rest = rest, nil
	for _, i := range added {
		text := string(t.text(i))
		if list := free[text]; len(list) > 0 {
			t.revive(list[0], i)
			free[text] = list[1:]
		} else {
			rest = append(rest, i)
		}
	}
	return rest
}

// result collects the answer.
func (t *tracker) result() *Result {
	r := &Result{Lines: make([]Line, len(t.lines))}
	for i, id := range t.lines {
		r.Lines[i] = t.origins[id]
	}
	before := 0
	for _, id := range t.order {
		if t.deadBy[id] == alive {
			before++
			continue
		}
		r.Deleted = append(r.Deleted, Deleted{t.origins[id], int(t.deadBy[id]), before, t.texts[id]})
	}
	return r
}

// lineStarts returns where the lines of a content begin, and where the last one ends.
func lineStarts(content []byte) []int {
	starts := make([]int, 1, bytes.Count(content, []byte{'\n'})+2)
	for at := 0; at < len(content); {
		if n := bytes.IndexByte(content[at:], '\n'); n >= 0 {
			at += n + 1
		} else {
			at = len(content)
		}
		starts = append(starts, at)
	}
	return starts
}

// LineTexts cuts a content into its lines, without their ends.
func LineTexts(content []byte) []string {
	starts := lineStarts(content)
	lines := make([]string, len(starts)-1)
	for i := range lines {
		lines[i] = strings.TrimSuffix(string(content[starts[i]:starts[i+1]]), "\n")
	}
	return lines
}
