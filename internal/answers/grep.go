package answers

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// GrepLine is a line that was found. Of a binary file only the path is told.
type GrepLine struct {
	Path       cairn.Path `json:"path"`
	Line       int        `json:"line,omitempty" doc:"Its number, from 1; none for a binary file."`
	Text       string     `json:"text,omitempty" doc:"At most 4,096 bytes of it."`
	Checkpoint string     `json:"checkpoint,omitempty" doc:"Of a line that is gone: the newest checkpoint that has it."`
}

// Grep is an answer with a limited number of lines.
type Grep struct {
	Lines []GrepLine `json:"lines"`
	More  bool       `json:"more" doc:"There are more lines."`
}

// MaxText is the number of bytes of a line that an answer tells.
const MaxText = 4096

// GrepLines searches for the first lines, at most as many as limit.
func GrepLines(ctx context.Context, repo *cairn.Repo, p *cairn.Pattern, opt cairn.GrepOptions, limit int) (*Grep, error) {
	out := &Grep{Lines: []GrepLine{}}
	for f, err := range repo.Grep(ctx, p, opt) {
		if err != nil {
			return nil, err
		}
		for _, line := range linesOf(f, opt.Deleted) {
			if out.More = len(out.Lines) == limit; out.More {
				return out, nil
			}
			out.Lines = append(out.Lines, line)
		}
	}
	return out, nil
}

// linesOf lists the lines of a file that were found.
func linesOf(f *cairn.GrepFile, deleted bool) (list []GrepLine) {
	line := GrepLine{Path: cairn.Path(f.Path)}
	if deleted {
		line.Checkpoint = f.Checkpoint.ID
	}
	if f.Binary {
		return []GrepLine{line}
	}
	for _, n := range f.Matches {
		line.Line, line.Text = n+1, cut(f.Lines[n])
		list = append(list, line)
	}
	return list
}

// cut shortens a line between two characters. Bytes that are no text become U+FFFD.
func cut(line []byte) string {
	line = line[:min(len(line), MaxText+utf8.UTFMax)]
	return wording.Beginning(strings.ToValidUTF8(string(line), "\uFFFD"), MaxText)
}
