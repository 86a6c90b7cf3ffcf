package answers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn/session"
)

// Blame is a blame with a limited number of lines.
type Blame struct {
	session.Blame
	More bool `json:"more" doc:"Lines of the range follow."`
}

// LinesOfBlame keeps the lines START,END of a blame, all if the text is empty, and at most as many as
// limit. Either end may be left out. Of each line at most MaxText bytes are told.
func LinesOfBlame(b *session.Blame, text string, limit int) (*Blame, error) {
	start, end, err := lineRange(text, len(b.Lines))
	if err != nil {
		return nil, err
	}
	out := &Blame{Blame: *b}
	last := end == len(b.Lines) // a deleted line may stand after the last one
	if out.More = end-start+1 > limit; out.More {
		end, last = start+limit-1, false
	}
	out.Lines = slices.DeleteFunc(slices.Clone(b.Lines), func(l session.BlameLine) bool { return l.Line < start || l.Line > end })
	out.Deleted = slices.DeleteFunc(slices.Clone(b.Deleted), func(d session.DeletedLine) bool {
		return d.Line < start || d.Line > end && !last
	})
	if len(out.Deleted) > limit {
		out.Deleted, out.More = out.Deleted[:limit], true
	}
	for i := range out.Lines {
		out.Lines[i].Text = cut([]byte(out.Lines[i].Text))
	}
	for i := range out.Deleted {
		out.Deleted[i].Text = cut([]byte(out.Deleted[i].Text))
	}
	return out, nil
}

// lineRange reads START,END for a file of n lines.
func lineRange(text string, n int) (start, end int, err error) {
	start, end = 1, n
	if text == "" {
		return start, end, nil
	}
	first, last, ok := strings.Cut(text, ",")
	if first != "" {
		start, err = strconv.Atoi(first)
	}
	if err == nil && ok && last != "" {
		end, err = strconv.Atoi(last)
	}
	if err != nil || start < 1 || end < start && n > 0 || first == "" && last == "" {
		return 0, 0, fmt.Errorf("%q is no START,END with numbers from 1", text)
	}
	return start, min(end, n), nil
}
