package webui

import (
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// maxBlamed is the number of lines that a page of authors shows.
const maxBlamed = maxRows

// maxName is the length of a file's name in bytes that no common file system exceeds.
const maxName = 255

// blamePage is what templates/blame.html shows: a file with who wrote its lines.
type blamePage struct {
	Path  string
	At    string // address of the checkpoint, "" for the disk
	Runs  []blameRun
	Lines int
	Cut   bool // the file has more lines than are shown
}

// blameRun is some lines in a row with the same origin.
type blameRun struct {
	Author, Prompt, When string
	Address              string // of the step, "" for none
	Hint                 string
	Rows                 template.HTML
}

// blame shows a file at a checkpoint, or on disk, with the author of each line.
func (h *handler) blame(v *visit) error {
	path, at := v.query.Get("file"), v.query.Get("at")
	if slices.ContainsFunc(strings.Split(path, "/"), func(name string) bool { return len(name) > maxName }) {
		return fmt.Errorf("%w: no file has so long a name", cairn.ErrNotFound)
	}
	b, err := v.project.Sessions.Blame(v.ctx(), path, cairn.BlameOptions{At: at})
	if err != nil {
		return err
	}
	p := &blamePage{Path: string(b.Path), Lines: len(b.Lines)}
	if b.Checkpoint != "" {
		p.At = v.at("checkpoint/" + b.Checkpoint)
	}
	lines := b.Lines
	if p.Cut = len(lines) > maxBlamed; p.Cut {
		lines = lines[:maxBlamed]
	}
	code := newColoured(p.Path, textOf(lines))
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && lines[to].Origin == lines[from].Origin {
			to++
		}
		run := v.blameRun(&b.Origins[lines[from].Origin])
		var rows []byte
		for n := from + 1; n <= to; n++ {
			line := code.line(n)
			rows = fmt.Appendf(rows, "<tr><td class=l data-n=%d><td>", n)
			rows = line.appendHTML(rows)
		}
		run.Rows = template.HTML(rows) // constants, numbers and texts that appendText has escaped
		p.Runs, from = append(p.Runs, run), to
	}
	return v.render(http.StatusOK, "blame.html", baseOf(p.Path), p)
}

func textOf(lines []session.BlameLine) [][]byte {
	text := make([][]byte, len(lines))
	for i := range lines {
		text[i] = []byte(lines[i].Text + "\n")
	}
	return text
}

// blameRun describes an origin.
func (v *visit) blameRun(o *session.BlameOrigin) blameRun {
	run := blameRun{Author: o.Author, When: "not in a checkpoint yet"}
	if !o.When.IsZero() {
		run.When = o.When.Local().Format("2 Jan 2006, 15:04")
	}
	if o.Oldest {
		run.Author, run.Prompt = "unknown", "It was there at the oldest checkpoint."
	}
	switch {
	case o.Work != nil:
		run.Author = o.Author
		if o.Work.Agent != "" {
			run.Author = visible(o.Work.Agent)
		}
		run.Prompt = visible(o.Work.Prompt)
		if o.Work.Step != "" {
			run.Address = v.at("step", "session", o.Work.Session, "step", o.Work.Step)
		}
		var calls []string
		for _, c := range o.Work.Calls {
			calls = append(calls, c.String())
		}
		run.Hint = visible(wording.FirstLine(strings.Join(calls, ", "), titleWidth))
	case o.Operation != "":
		run.Address = v.at("operation/" + o.Operation)
	case o.Checkpoint != "" && !o.Oldest:
		run.Address = v.at("checkpoint/" + o.Checkpoint)
	}
	return run
}
