package look

import (
	"path/filepath"
	"strconv"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/console"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// grepPrinter prints the answer of one grep, as git grep does.
type grepPrinter struct {
	*commands
	f       *grepFlags
	pattern *cairn.Pattern
	paint   console.Palette
	at      string // the HASH, "" for none
	below   string // the current directory, from the root
	array   cli.JSONArray
	listed  map[string]bool // paths, with -l and --deleted
	found   bool
	printed bool // a group of lines
}

// grepLine is one line of the answer in JSON.
type grepLine struct {
	Path       cairn.Path `json:"path"`
	Line       int        `json:"line,omitempty"`
	Text       *string    `json:"text,omitempty"`
	Lines      int        `json:"lines,omitempty"`
	Checkpoint string     `json:"checkpoint,omitempty"`
}

// end ends the answer.
func (p *grepPrinter) end() error {
	if p.Global.JSON {
		if err := p.array.Close(); err != nil {
			return err
		}
	}
	if !p.found {
		return cli.ErrAbsent
	}
	return nil
}

// file prints the matches of a file.
func (p *grepPrinter) file(file *cairn.GrepFile) error {
	p.found = true
	switch {
	case p.f.list && p.listed[file.Path]:
		return nil
	case p.Global.JSON:
		return p.json(file)
	case p.f.list:
		p.listed[file.Path] = true
		return p.write(p.name(file), "\n")
	case p.f.count:
		return p.write(p.name(file), p.paint.Paint(console.Cyan, ":"), strconv.Itoa(len(file.Matches)), "\n")
	case file.Binary:
		return p.write("Binary file ", p.name(file), " matches\n")
	}
	return p.lines(file)
}

// name is what stands before each line of a file: its path from the current directory, after its
// checkpoint.
func (p *grepPrinter) name(file *cairn.GrepFile) string {
	path := file.Path
	if p.below != "." {
		if from, err := filepath.Rel(p.below, filepath.FromSlash(path)); err == nil {
			path = filepath.ToSlash(from)
		}
	}
	path = pathtext.Quote(path)
	switch {
	case p.at != "":
		path = p.at + ":" + path
	case file.Checkpoint != nil:
		path = file.Checkpoint.ID[:cli.ShortID] + ":" + path
	}
	return p.PathLink(file.Path, p.paint.Paint(console.Magenta, path))
}

func (p *grepPrinter) write(texts ...string) (err error) {
	for _, text := range texts {
		_, err = p.Out.WriteString(text)
	}
	return err
}

// lines prints the lines of a file with those around them. A line -- stands between groups.
func (p *grepPrinter) lines(file *cairn.GrepFile) error {
	before, after := p.f.around, p.f.around
	if p.f.before > 0 {
		before = p.f.before
	}
	if p.f.after > 0 {
		after = p.f.after
	}
	name, last := p.name(file), -1 // the line that was printed last
	for i, at := range file.Matches {
		from, to := max(last+1, at-before), min(at+after, len(file.Lines)-1)
		if i+1 < len(file.Matches) {
			to = min(to, file.Matches[i+1]-1)
		}
		if before+after > 0 && p.printed && (last < 0 || from > last+1) {
			p.Out.WriteString(p.paint.Paint(console.Cyan, "--") + "\n")
		}
		for n := from; n <= to; n++ {
			if err := p.line(name, n, file.Lines[n], n == at); err != nil {
				return err
			}
		}
		p.printed, last = true, max(last, to)
	}
	return nil
}

// line prints one line with its separators, which tell a match from the lines around it.
func (p *grepPrinter) line(name string, n int, text []byte, match bool) error {
	mark := "-"
	if match {
		mark = ":"
	}
	mark = p.paint.Paint(console.Cyan, mark)
	number := ""
	if p.f.number {
		number = p.paint.Paint(console.Green, strconv.Itoa(n+1)) + mark
	}
	return p.write(name, mark, number, p.paint.Matches(text, p.pattern, p.FileText), "\n")
}

// json adds the matches of a file to the array.
func (p *grepPrinter) json(file *cairn.GrepFile) error {
	line := grepLine{Path: cairn.Path(file.Path)}
	if p.f.deleted {
		line.Checkpoint = file.Checkpoint.ID
	}
	switch {
	case p.f.count:
		line.Lines = len(file.Matches)
		return p.array.Add(line)
	case p.f.list || file.Binary:
		p.listed[file.Path] = true
		return p.array.Add(line)
	}
	for _, n := range file.Matches {
		text := string(file.Lines[n])
		line.Line, line.Text = n+1, &text
		if err := p.array.Add(line); err != nil {
			return err
		}
	}
	return nil
}
