package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// fileStat is one line of diff --stat.
type fileStat struct {
	path                 string
	status               cairn.Status
	additions, deletions int
	note                 string // why there are no counts
}

// MarshalJSON implements json.Marshaler.
func (s fileStat) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		File      string       `json:"file"`
		Additions int          `json:"additions"`
		Deletions int          `json:"deletions"`
		Status    cairn.Status `json:"status"`
		Note      string       `json:"note,omitempty"`
	}{cairn.EncodePath(s.path), s.additions, s.deletions, s.status, s.note})
}

func statsOf(ctx context.Context, repo *cairn.Repo, changes []cairn.Change, opt cairn.DiffOptions) ([]fileStat, error) {
	stats := make([]fileStat, len(changes))
	for i := range changes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		added, deleted, note, err := repo.Stat(&changes[i], opt)
		if err != nil {
			return nil, err
		}
		stats[i] = fileStat{changes[i].Path, changes[i].Status, added, deleted, note}
	}
	return stats, nil
}

func (c *cli) printStats(stats []fileStat) error {
	if !c.global.json {
		return c.writeStats(stats)
	}
	array := jsonArray{c: c}
	for _, s := range stats {
		if err := array.add(s); err != nil {
			return err
		}
	}
	return array.close()
}

// writeStats prints the table of git diff --stat: the bars share what names and
// counts leave of the line's width, at least minBar columns. Unlike git's, names are
// never cut short, and a binary file has no sizes.
func (c *cli) writeStats(stats []fileStat) error {
	if len(stats) == 0 {
		return nil
	}
	var t statTable
	for _, s := range stats {
		t.add(s)
	}
	t.bar = max(minBar, c.columns-t.name-t.number-6)
	for _, s := range stats {
		name := cairn.QuotePath(s.path)
		fmt.Fprintf(c.out, " %s%*s | %s\n", name, t.name-utf8.RuneCountInString(name), "", t.counts(s))
	}
	_, err := fmt.Fprintln(c.out, statSummary(len(stats), t.added, t.deleted))
	return err
}

const minBar = 10

// statTable is the widths of a table's columns and its sums.
type statTable struct {
	name, number, bar    int
	most, added, deleted int
}

const textBinary = "Bin"

func (t *statTable) add(s fileStat) {
	t.name = max(t.name, utf8.RuneCountInString(cairn.QuotePath(s.path)))
	t.most = max(t.most, s.additions+s.deletions)
	t.number = max(t.number, len(strconv.Itoa(t.most)))
	if s.note == "binary" {
		t.number = max(t.number, len(textBinary))
	}
	t.added, t.deleted = t.added+s.additions, t.deleted+s.deletions
}

func (t *statTable) counts(s fileStat) string {
	switch s.note {
	case "":
		text := fmt.Sprintf("%*d %s", t.number, s.additions+s.deletions, t.draw(s.additions, s.deletions))
		return strings.TrimRight(text, " ")
	case "binary":
		return textBinary
	}
	return s.note
}

// draw draws a bar, to scale where the longest one would not fit. A count that is
// not 0 has at least one sign, and the longer half takes up the rounding.
func (t *statTable) draw(plus, minus int) string {
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
	return strings.Repeat("+", plus) + strings.Repeat("-", minus)
}

func (t *statTable) scaled(n int) int {
	if n == 0 {
		return 0
	}
	return 1 + n*(t.bar-1)/t.most
}

func statSummary(files, added, deleted int) string {
	text := " " + wording.Count(files, "file") + " changed"
	if added > 0 || deleted == 0 {
		text += ", " + wording.Count(added, "insertion") + "(+)"
	}
	if deleted > 0 || added == 0 {
		text += ", " + wording.Count(deleted, "deletion") + "(-)"
	}
	return text
}
