// Package diffstat counts added and deleted lines of changed files, and prints the table of
// git diff --stat.
package diffstat

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// File is one line of the table.
type File struct {
	Path                 string
	Status               cairn.Status
	Additions, Deletions int
	Note                 string // why there are no counts
	From                 string // the path before, of a rename

	before, after int64 // bytes of a binary file, where its contents differ
}

// MarshalJSON implements json.Marshaler.
func (f File) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		File      string       `json:"file"`
		Additions int          `json:"additions"`
		Deletions int          `json:"deletions"`
		Status    cairn.Status `json:"status"`
		Note      string       `json:"note,omitempty"`
	}{pathtext.Encode(f.Path), f.Additions, f.Deletions, f.Status, f.Note})
}

// Of counts the lines of every change. With DiffOptions.Renames a rename is one change.
func Of(ctx context.Context, repo *cairn.Repo, changes []cairn.Change, opt cairn.DiffOptions) ([]File, error) {
	list, err := renamed(ctx, repo, changes, opt)
	if err != nil {
		return nil, err
	}
	stats := make([]File, 0, len(list))
	for i := range list {
		f, err := count(ctx, repo, &list[i], opt)
		if err != nil {
			return nil, err
		}
		if f != nil {
			stats = append(stats, *f)
		}
	}
	return stats, nil
}

func renamed(ctx context.Context, repo *cairn.Repo, changes []cairn.Change, opt cairn.DiffOptions) ([]cairn.FileChange, error) {
	if opt.Renames {
		return repo.Renames(ctx, changes)
	}
	list := make([]cairn.FileChange, len(changes))
	for i := range changes {
		list[i].Change = changes[i]
	}
	return list, nil
}

// count counts the lines of one change. It returns nil if only blanks differ and they do not count.
func count(ctx context.Context, repo *cairn.Repo, c *cairn.FileChange, opt cairn.DiffOptions) (*File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	added, deleted, note, err := repo.CountLines(&c.Change, opt)
	if err != nil {
		return nil, err
	}
	if opt.IgnoreSpace && c.From == "" && c.OldID != c.NewID && c.OldMode == c.NewMode && added+deleted == 0 && note == "" {
		return nil, nil
	}
	f := &File{Path: c.Path, Status: c.Status, Additions: added, Deletions: deleted, Note: note, From: c.From}
	if note == noteBinary && c.OldID != c.NewID {
		f.before, f.after, err = repo.Sizes(&c.Change)
	}
	return f, err
}

// Style says how a table looks.
type Style struct {
	Colored bool                           // the colours of git
	Name    func(path, text string) string // the text of a path; nil = as it is
}

// Write prints the table for lines of a width. Names and counts come first; the bars
// share the rest of the width, at least minBar columns. Unlike git's, names are never cut
// short.
func Write(w io.Writer, stats []File, columns int, style Style) error {
	if len(stats) == 0 {
		return nil
	}
	t := table{colored: style.Colored}
	for _, s := range stats {
		t.add(s)
	}
	t.bar = max(minBar, columns-t.name-t.number-6)
	for _, s := range stats {
		name := s.name()
		blanks := strings.Repeat(" ", t.name-wording.Columns(name))
		if style.Name != nil {
			name = style.Name(s.Path, name)
		}
		fmt.Fprintf(w, " %s%s | %s\n", name, blanks, t.counts(s))
	}
	_, err := fmt.Fprintln(w, summary(len(stats), t.added, t.deleted))
	return err
}

// name is the path, or both paths of a rename.
func (f File) name() string {
	if f.From == "" {
		return pathtext.Quote(f.Path)
	}
	return renameText(f.From, f.Path)
}

const minBar = 10

// table is the widths of a table's columns and its sums.
type table struct {
	name, number, bar    int
	most, added, deleted int
	colored              bool
}

const (
	noteBinary = "binary" // of Repo.CountLines
	textBinary = "Bin"
)

func (t *table) add(f File) {
	t.name = max(t.name, wording.Columns(f.name()))
	t.most = max(t.most, f.Additions+f.Deletions)
	t.number = max(t.number, len(strconv.Itoa(t.most)))
	if f.Note == noteBinary {
		t.number = max(t.number, len(textBinary))
	}
	t.added, t.deleted = t.added+f.Additions, t.deleted+f.Deletions
}

func (t *table) counts(f File) string {
	switch f.Note {
	case "":
		text := fmt.Sprintf("%*d %s", t.number, f.Additions+f.Deletions, t.draw(f.Additions, f.Deletions))
		return strings.TrimRight(text, " ")
	case noteBinary:
		return fmt.Sprintf("%*s", t.number, textBinary) + t.sizes(f)
	}
	return f.Note
}

// sizes are those of a binary file, unless it is empty on both sides or its contents stay.
func (t *table) sizes(f File) string {
	if f.before == 0 && f.after == 0 {
		return ""
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return " " + t.painted(red, number(f.before)) + " -> " + t.painted(green, number(f.after)) + " bytes"
}

// The colours of what was removed and added.
const red, green = "\x1b[31m", "\x1b[32m"

// draw draws a bar, to scale where the longest one would not fit. A count that is
// not 0 has at least one sign, and the longer half takes up the rounding.
func (t *table) draw(plus, minus int) string {
	if t.most > t.bar {
		total := t.scaled(plus + minus)
		if plus > 0 && minus > 0 {
			total = max(total, 2)
		}
		if plus < minus {
			plus = t.scaled(plus)
			minus = total - plus
		} else {
			minus = t.scaled(minus)
			plus = total - minus
		}
	}
	return t.painted(green, strings.Repeat("+", plus)) + t.painted(red, strings.Repeat("-", minus))
}

// painted returns signs in a colour.
func (t *table) painted(color, signs string) string {
	if !t.colored || signs == "" {
		return signs
	}
	return color + signs + "\x1b[m"
}

func (t *table) scaled(n int) int {
	if n == 0 {
		return 0
	}
	return 1 + n*(t.bar-1)/t.most
}

func summary(files, added, deleted int) string {
	text := " " + wording.Count(files, "file") + " changed"
	if added > 0 || deleted == 0 {
		text += ", " + wording.Count(added, "insertion") + "(+)"
	}
	if deleted > 0 || added == 0 {
		text += ", " + wording.Count(deleted, "deletion") + "(-)"
	}
	return text
}
