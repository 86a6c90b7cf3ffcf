package look

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/console"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const (
	blameID     = 8  // digits of an id
	blamePrompt = 32 // characters of a prompt
	blameTool   = 12 // characters of a tool
	blameTime   = "2006-01-02 15:04"

	noCheckpoint = "0000000000000000000000000000000000000000"
)

// writer is who made a change, in one word.
func writer(o *session.BlameOrigin) string {
	if o.Work == nil {
		return o.Author
	}
	return cmp.Or(wording.Printable(o.Work.Agent), o.Author)
}

// blameTable prints a blame for people.
type blameTable struct {
	*commands
	b *session.Blame
	f *blameFlags

	who, tool, prompt int // widths

	paint console.Palette
}

func (c *commands) writeBlame(b *session.Blame, f *blameFlags) error {
	t := blameTable{commands: c, b: b, f: f, paint: c.Palette()}
	for i := range b.Origins {
		o := &b.Origins[i]
		t.who = max(t.who, wording.Columns(writer(o)))
		t.tool = max(t.tool, wording.Columns(toolOf(o)))
		t.prompt = max(t.prompt, wording.Columns(promptOf(o)))
	}
	number := len(strconv.Itoa(len(b.Lines)))
	if n := len(b.Lines); n > 0 {
		number = len(strconv.Itoa(b.Lines[n-1].Line))
	}
	deleted := b.Deleted
	before := -1
	for _, l := range b.Lines {
		for ; len(deleted) > 0 && deleted[0].Line <= l.Line; deleted = deleted[1:] {
			t.deleted(&deleted[0], number)
		}
		head := fmt.Sprintf("%s%*d)", t.head(l.Origin), number, l.Line)
		c.AnswerLine(t.painted(head, l.Origin, before) + " " + c.FileText(l.Text))
		before = l.Origin
	}
	for i := range deleted {
		t.deleted(&deleted[i], number)
	}
	return nil
}

// painted has the id of the first line of a change in the colour of ids, and the whole head of the
// lines below in the one that git blame has for repeated heads.
func (t *blameTable) painted(head string, origin, before int) string {
	if origin == before {
		return t.paint.Paint(console.Cyan, head)
	}
	id := t.id(&t.b.Origins[origin])
	return t.paint.Paint(console.Yellow, id) + head[len(id):]
}

// head is the beginning of a line, up to its number.
func (t *blameTable) head(origin int) string {
	o := &t.b.Origins[origin]
	if t.f.short {
		return t.id(o) + " "
	}
	when := "not captured yet"
	if o.Checkpoint != "" {
		when = o.When.Local().Format(blameTime)
	}
	text := t.id(o) + " (" + padded(writer(o), t.who) + " "
	if t.tool > 0 {
		text += padded(toolOf(o), t.tool) + " "
	}
	if t.prompt > 0 {
		text += padded(promptOf(o), t.prompt) + " "
	}
	return text + when + " "
}

// id is the id of a change. The ^ of one that may be older takes the place of a digit, as in git.
func (t *blameTable) id(o *session.BlameOrigin) string {
	id := cmp.Or(o.Checkpoint, noCheckpoint)
	if !t.f.long {
		id = id[:blameID]
	}
	if o.Oldest && o.Checkpoint != "" {
		id = "^" + id[:len(id)-1]
	}
	return id
}

// deleted prints a line that is no longer there, and who deleted it.
func (t *blameTable) deleted(d *session.DeletedLine, number int) {
	by := &t.b.Origins[d.By]
	text := "deleted by " + writer(by)
	if by.Checkpoint != "" {
		text += " in " + by.Checkpoint[:blameID]
	}
	if prompt := promptOf(by); prompt != "" {
		text += ": " + prompt
	}
	head := fmt.Sprintf("%s%*s)", t.head(d.Origin), number, "-")
	t.AnswerLine(t.painted(head, d.Origin, -1) + " " + t.FileText(d.Text) + "  " + t.paint.Paint(console.Red, "["+text+"]"))
}

func promptOf(o *session.BlameOrigin) string {
	if o.Work == nil {
		return ""
	}
	return wording.FirstLine(o.Work.Prompt, blamePrompt)
}

// toolOf is the first tool that the step of a change called.
func toolOf(o *session.BlameOrigin) string {
	if o.Work == nil || len(o.Work.Calls) == 0 {
		return ""
	}
	return wording.FirstLine(o.Work.Calls[0].Tool, blameTool)
}

func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-wording.Columns(text)))
}

// writePorcelain prints a blame as git blame --porcelain does: the facts about a checkpoint come
// with its first line, or with every line.
func (c *commands) writePorcelain(ctx context.Context, repo *cairn.Repo, b *session.Blame, every bool) error {
	told := make(map[int]bool)
	for i, l := range b.Lines {
		o := &b.Origins[l.Origin]
		fmt.Fprintf(c.Out, "%s %d %d", cmp.Or(o.Checkpoint, noCheckpoint), l.Number, l.Line)
		if n := groupAt(b.Lines, i); n > 0 {
			fmt.Fprintf(c.Out, " %d", n)
		}
		c.Out.WriteByte('\n')
		if !told[l.Origin] || every {
			told[l.Origin] = true
			if err := c.writeOrigin(ctx, repo, b, o); err != nil {
				return err
			}
		}
		fmt.Fprintf(c.Out, "\t%s\n", c.FileText(l.Text))
	}
	return nil
}

// groupAt returns how many neighbouring lines come from neighbouring lines of one checkpoint, 0
// within such a group.
func groupAt(lines []session.BlameLine, i int) int {
	together := func(i int) bool {
		a, b := &lines[i-1], &lines[i]
		return a.Origin == b.Origin && a.Number+1 == b.Number && a.Line+1 == b.Line
	}
	if i > 0 && together(i) {
		return 0
	}
	n := 1
	for i+n < len(lines) && together(i+n) {
		n++
	}
	return n
}

func (c *commands) writeOrigin(ctx context.Context, repo *cairn.Repo, b *session.Blame, o *session.BlameOrigin) error {
	who, mail, when, summary := writer(o), "cairn@localhost", o.When, promptOf(o)
	if o.Work != nil {
		summary = o.Work.Prompt
	}
	if o.Checkpoint == "" {
		when = c.Console.Now()
		summary = cmp.Or(summary, "Version of "+string(b.Path)+" from "+string(b.Path))
		if o.Work == nil {
			who, mail = "Not Committed Yet", "not.committed.yet"
		}
	} else if summary == "" {
		cp, err := repo.Lookup(ctx, o.Checkpoint)
		if err != nil {
			return err
		}
		summary = wording.FirstLine(cp.Message, 1<<10)
	}
	for _, role := range []string{"author", "committer"} {
		fmt.Fprintf(c.Out, "%s %s\n%s-mail <%s>\n%s-time %d\n%s-tz %s\n", role, who, role, mail, role, when.Unix(), role, zone(when))
	}
	fmt.Fprintf(c.Out, "summary %s\n", c.FileText(summary))
	if o.Oldest {
		c.Out.WriteString("boundary\n")
	}
	if o.OldPath != "" {
		fmt.Fprintf(c.Out, "previous %s %s\n", o.Before, pathtext.Quote(string(o.OldPath)))
	}
	_, err := fmt.Fprintf(c.Out, "filename %s\n", pathtext.Quote(string(o.Path)))
	return err
}

func zone(when time.Time) string { return when.Format("-0700") }
