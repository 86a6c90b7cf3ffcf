package look

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/console"
	"github.com/seed-fb9cbc17/cairn/internal/diffstat"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const showManual = `cairn show tells what a checkpoint or a turn changed, who did it and why.

Usage:
    cairn show [HASH | SESSION[:TURN]] [--stat] [-p] [-U N] [-w] [-M]
               [--word-diff[=MODE] | --color-words] [--ids] [-- PATH...]

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
    -p, --patch      with --stat: the difference, too
    -U, --unified N; -w, --ignore-all-space; -M, --find-renames;
    --word-diff MODE; --color-words
                     as in cairn diff; all but -w and -M mean -p, too

With --json the answer is {"id", "hash", "time", "author", "message", "parent",
"work", "prompt", "secrets", "diffs"}, as in cairn log, with the whole prompt
and the files as in cairn diff; "secrets" are the places of credentials that
captures found in the files: [{"path", "rule", "line"}]. For a turn it is
{"sessionID", "messageID", "agent", "prompt", "time", "diffs", "inRoots"}, the
last being files that it changed in other directories of its session. With
--stat there is "files" in the place of "diffs", as in cairn diff --stat --json,
and with -p both. -M and changed words have no form in JSON: status 2.

The status is 4 if there is no such checkpoint or turn, or a PATH is neither on
one of its sides nor on disk.

Examples:
    cairn show
    cairn show @~2 --stat -- src
    cairn show @:-1
`

type showFlags struct {
	patchFlags
	ids bool
}

func (c *commands) showCommand() *cobra.Command {
	var f showFlags
	cmd := c.Command(cli.Command{
		Use: "show [HASH | SESSION[:TURN]]", Short: "tell what a checkpoint or a turn changed", Manual: showManual,
		Args: cli.ArgCount(0, -1, "at most one HASH; paths go after --"), Complete: c.CompleteShow,
		Run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			specs, paths := args, []string(nil)
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				specs, paths = args[:n], args[n:]
			}
			switch len(specs) {
			case 0:
				return c.show(ctx, cmd, &f, "@", paths)
			case 1:
				return c.show(ctx, cmd, &f, specs[0], paths)
			}
			return c.Usage("takes at most one HASH; paths go after --")
		},
	})
	cmd.Flags().BoolVar(&f.ids, "ids", false, "also ids")
	f.register(cmd)
	return cmd
}

func (c *commands) show(ctx context.Context, cmd *cobra.Command, f *showFlags, spec string, args []string) error {
	paths, err := c.Paths(args)
	if err != nil {
		return err
	}
	opt, err := f.options(c, cmd)
	if err != nil {
		return err
	}
	f.patch = f.patch || !f.stat
	return c.WithRepo(func(repo *cairn.Repo) error {
		answer, err := answers.Show(ctx, repo, session.New(repo), spec, paths)
		if err != nil {
			return err
		}
		return c.printShown(ctx, repo, f, answer, opt)
	})
}

func (c *commands) printShown(ctx context.Context, repo *cairn.Repo, f *showFlags, s *answers.Shown, opt cairn.DiffOptions) error {
	if c.Global.JSON {
		return c.writeShownJSON(ctx, repo, f, s, opt)
	}
	c.writeShownHead(s, f.ids || c.Global.Verbose)
	return c.writePatch(ctx, repo, &f.patchFlags, s.Changes, opt)
}

// writeShownJSON prints the facts with the counts, the differences or both, as log does.
func (c *commands) writeShownJSON(ctx context.Context, repo *cairn.Repo, f *showFlags, s *answers.Shown, opt cairn.DiffOptions) error {
	out := struct {
		*answers.Shown
		Files *[]diffstat.File  `json:"files,omitempty"`
		Diffs *[]cairn.FileDiff `json:"diffs,omitempty"`
	}{Shown: s}
	if f.stat {
		stats, err := diffstat.Of(ctx, repo, s.Changes, opt)
		if err != nil {
			return err
		}
		out.Files = &stats
	}
	if f.patch {
		diffs, err := diffsOf(ctx, repo, s.Changes, opt)
		if err != nil {
			return err
		}
		out.Diffs = &diffs
	}
	return c.WriteJSON(out)
}

// showIndent stands before the prompt and the tools, as before a message in git.
const showIndent = "    "

// writeShownHead prints the header above the difference, as git show does.
func (c *commands) writeShownHead(s *answers.Shown, ids bool) {
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(c.Out, "%-9s%s\n", name, wording.Printable(value))
		}
	}
	if s.ID != "" {
		c.AnswerLine(c.Palette().Paint(console.Yellow, "checkpoint "+s.ID))
	} else {
		c.AnswerLine(c.Palette().Paint(console.Yellow, fmt.Sprintf("turn %d of %s", s.Number, wording.Printable(s.Title))))
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
		field("Session:", s.Title)
	}
	field("Date:", s.Time.Local().Format("Mon Jan 2 15:04:05 2006 -0700"))
	if s.ID != "" && s.Parent == "" {
		field("Parent:", "none: the first of its line")
	}
	for _, o := range s.Elsewhere {
		field("Also in:", fmt.Sprintf("%s, %s", pathtext.Place(string(o.Root)), wording.Count(len(o.Patch.Files), "file")))
	}
	for i := range s.Secrets {
		field("Secret:", s.Secrets[i].String())
	}
	text := s.Prompt
	if text == "" && s.Message != cli.NoMessage {
		text = s.Message
	}
	c.Out.WriteByte('\n')
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if text != "" {
			c.Out.WriteString(strings.TrimRight(showIndent+wording.Printable(line), " ") + "\n")
		}
	}
	for _, call := range s.Calls {
		c.Out.WriteString(showIndent + "[" + wording.Printable(call.String()) + "]\n")
	}
	if text != "" || len(s.Calls) > 0 {
		c.Out.WriteByte('\n')
	}
}
