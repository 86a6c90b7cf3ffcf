package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/console"
	"github.com/seed-fb9cbc17/cairn/internal/diffstat"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const showManual = `cairn show tells what a checkpoint or a turn changed, who did it and why.

Usage:
    cairn show [HASH | SESSION[:TURN]] [--stat] [-w] [-U N] [--ids]
               [-- PATH...]

The newest checkpoint unless a HASH is given. Its ids, author and time come
first, then the prompt or the message, then the tools and their commands, then
the difference from the checkpoint before it on its line. The first of a line
has none to compare with. A turn is named by its session and its number: 1 is
the first, -1 or @ the newest that is not reverted. The session alone means the
newest; the id of a message, or its beginning, will do, too. The difference is
what the steps of the turn changed. Ids of session, message and step are there
with --ids or -v.

Options:
    --ids            also ids
    --stat           how many lines were added and deleted, file by file
    -w, --ignore-all-space
                     lines that differ in blanks only are equal, as in git
    -U, --unified N  lines of context around a change (default 3)

With --json the answer is {"id", "hash", "time", "author", "message", "parent",
"work", "prompt", "diffs"}, as in cairn log, with the whole prompt and the files
as in cairn diff. For a turn it is {"sessionID", "messageID", "agent", "prompt",
"time", "diffs"}.

The status is 4 if there is no such checkpoint or turn.

Examples:
    cairn show
    cairn show @~2 --stat -- src
    cairn show @:-1
`

type showFlags struct {
	stat, ignoreSpace, ids bool
	context                int
}

func (c *cli) showCommand() *cobra.Command {
	var f showFlags
	cmd := c.command(command{
		use: "show [HASH | SESSION[:TURN]]", short: "tell what a checkpoint or a turn changed", manual: showManual,
		args: argCount(0, -1, "at most one HASH; paths go after --"), complete: c.completeShow,
		run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			specs, paths := args, []string(nil)
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				specs, paths = args[:n], args[n:]
			}
			if len(specs) > 1 || f.context < 0 {
				return c.usage("takes at most one HASH, and lines of context from 0; paths go after --")
			}
			return c.show(ctx, &f, append(specs, "@")[0], paths)
		},
	})
	cmd.Flags().BoolVar(&f.stat, "stat", false, "count lines, file by file")
	cmd.Flags().BoolVar(&f.ids, "ids", false, "also ids")
	cmd.Flags().BoolVarP(&f.ignoreSpace, "ignore-all-space", "w", false, "ignore changes of blanks")
	cmd.Flags().IntVarP(&f.context, "unified", "U", 3, "lines of context")
	return cmd
}

// shown is the answer of show in JSON.
type shown struct {
	ID        string           `json:"id,omitempty"`
	Hash      string           `json:"hash,omitempty"`
	Session   string           `json:"sessionID,omitempty"`
	MessageID string           `json:"messageID,omitempty"`
	Time      time.Time        `json:"time"`
	Author    string           `json:"author,omitempty"`
	Agent     string           `json:"agent,omitempty"`
	Model     string           `json:"model,omitempty"`
	Message   string           `json:"message,omitempty"`
	Parent    string           `json:"parent,omitempty"`
	Work      *session.Work    `json:"work,omitempty"`
	Prompt    string           `json:"prompt,omitempty"`
	Diffs     []cairn.FileDiff `json:"diffs"`

	changes []cairn.Change
	calls   []session.Call
	title   string // of the session
	number  int    // of the turn
}

func (c *cli) show(ctx context.Context, f *showFlags, spec string, args []string) error {
	paths, err := c.paths(args)
	if err != nil {
		return err
	}
	opt := cairn.DiffOptions{Color: bool(c.palette()), Context: f.context, IgnoreSpace: f.ignoreSpace}
	if f.context == 0 {
		opt.Context = cairn.NoContext
	}
	return c.withRepo(func(repo *cairn.Repo) error {
		s := session.New(repo)
		answer, err := shownCheckpoint(ctx, repo, s, spec, paths)
		if errors.Is(err, cairn.ErrNotFound) {
			turn, turnErr := shownTurn(ctx, s, spec)
			if turnErr == nil {
				answer, err = turn, nil
			} else if !errors.Is(turnErr, cairn.ErrNotFound) || strings.Contains(spec, ":") {
				err = turnErr
			}
		}
		if err != nil {
			return err
		}
		return c.printShown(ctx, repo, f, answer, opt)
	})
}

// shownCheckpoint collects the facts about a checkpoint.
func shownCheckpoint(ctx context.Context, repo *cairn.Repo, s *session.Sessions, spec string, paths []string) (*shown, error) {
	cp, err := repo.Lookup(ctx, spec)
	if err != nil {
		return nil, err
	}
	out := &shown{ID: cp.ID, Hash: cp.Hash, Time: cp.When, Author: cp.Author, Message: cp.Message, Parent: cp.Parent}
	if out.Work, err = s.WorkOf(ctx, cp.ID, make(session.WorkCache)); err != nil {
		return nil, err
	}
	if w := out.Work; w != nil {
		out.Agent, out.Model, out.calls = w.Agent, w.Model, w.Calls
		prompt, err := s.Prompt(ctx, w.Session, w.Message)
		if err != nil {
			return nil, err
		}
		out.Prompt = cmp.Or(prompt, w.Prompt)
		if out.title, err = s.Title(ctx, w.Session); err != nil {
			return nil, err
		}
	}
	if cp.Parent != "" {
		out.changes, err = repo.Changes(ctx, cp.Parent, cp.ID, paths...)
	}
	return out, err
}

// shownTurn collects the facts about SESSION or SESSION:MESSAGE.
func shownTurn(ctx context.Context, s *session.Sessions, spec string) (*shown, error) {
	name, message, _ := strings.Cut(spec, ":")
	id, err := s.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	turn, err := turnOf(ctx, s, id, message)
	if err != nil {
		return nil, err
	}
	first := &turn.Messages[0]
	out := &shown{Session: id, MessageID: first.ID, Time: first.Created, Agent: first.Agent, Prompt: first.Prompt, number: turn.Number}
	if out.title, err = s.Title(ctx, id); err != nil {
		return nil, err
	}
	for _, st := range turn.Steps() {
		out.calls = append(out.calls, st.Calls...)
		out.Agent, out.Model = cmp.Or(st.Agent, out.Agent), cmp.Or(st.Model, out.Model)
	}
	if out.Agent == "" {
		whole, err := s.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		out.Agent = whole.Agent
	}
	out.changes, err = s.Changes(ctx, id, session.Scope{Message: first.ID, Turn: true})
	return out, err
}

// turnOf finds a turn of a session by what FindTurn takes, from the named message on. The newest turn
// counts if none is named, a reverted one included.
func turnOf(ctx context.Context, s *session.Sessions, id, spec string) (*session.Turn, error) {
	list, err := s.History(ctx, id)
	if err != nil {
		return nil, err
	}
	turns := session.Turns(list)
	if n := len(turns); spec == "" && n > 0 {
		return &turns[n-1], nil
	}
	if spec, err = s.FindTurn(ctx, id, spec); err != nil {
		return nil, err
	}
	for _, t := range turns {
		for i := range t.Messages {
			if t.Messages[i].ID == spec {
				return &session.Turn{Number: t.Number, Messages: t.Messages[i:]}, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: message %q of session %q", session.ErrNotFound, spec, id)
}

func (c *cli) printShown(ctx context.Context, repo *cairn.Repo, f *showFlags, s *shown, opt cairn.DiffOptions) error {
	if c.global.json {
		s.Diffs = []cairn.FileDiff{}
		for d, err := range repo.FileDiffs(ctx, s.changes, opt) {
			if err != nil {
				return err
			}
			s.Diffs = append(s.Diffs, d)
		}
		return c.writeJSON(s)
	}
	c.writeShownHead(s, f.ids || c.global.verbose)
	if f.stat {
		stats, err := diffstat.Of(ctx, repo, s.changes, opt)
		if err != nil {
			return err
		}
		return diffstat.Write(c.out, stats, c.columns)
	}
	return repo.WriteDiff(ctx, c.out, s.changes, opt)
}

// showIndent stands before the prompt and the tools, as before a message in git.
const showIndent = "    "

// writeShownHead prints what is said before the difference, as git show does.
func (c *cli) writeShownHead(s *shown, ids bool) {
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(c.out, "%-9s%s\n", name, wording.Printable(value))
		}
	}
	if s.ID != "" {
		c.answerLine(c.palette().Paint(console.Yellow, "checkpoint "+s.ID))
	} else {
		c.answerLine(c.palette().Paint(console.Yellow, fmt.Sprintf("turn %d of %s", s.number, s.title)))
	}
	field("Tree:", s.Hash)
	field("Author:", cmp.Or(s.Author, session.AuthorAgent))
	field("Agent:", strings.Join(wording.Wrap(1<<10, s.Agent, s.Model), ""))
	switch {
	case s.Work != nil && ids:
		field("Session:", s.Work.Session)
		field("Message:", s.Work.Message)
		field("Step:", s.Work.Step)
	case s.Session != "" && ids:
		field("Session:", s.Session)
		field("Message:", s.MessageID)
	case s.Work != nil:
		field("Session:", s.title)
	}
	field("Date:", s.Time.Local().Format("Mon Jan 2 15:04:05 2006 -0700"))
	if s.ID != "" && s.Parent == "" {
		field("Parent:", "none: the first of its line")
	}
	text := s.Prompt
	if text == "" && s.Message != noMessage {
		text = s.Message
	}
	c.out.WriteByte('\n')
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if text != "" {
			c.out.WriteString(strings.TrimRight(showIndent+wording.Printable(line), " ") + "\n")
		}
	}
	for _, call := range s.calls {
		c.out.WriteString(showIndent + "[" + wording.Printable(call.String()) + "]\n")
	}
	if text != "" || len(s.calls) > 0 {
		c.out.WriteByte('\n')
	}
}
