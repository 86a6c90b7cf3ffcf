package look

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/sessiontext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const operationsManual = `cairn operations lists what was restored, reverted, undone and redone, newest
first.

Usage:
    cairn operations [-n N] [--paths]

Each line has the first 12 digits of the operation's id, what it was, its age,
how many paths it changed, how many it kept or left in conflict, and the first
of the paths. Where it took turns of a session back, or brought them back, a
line below has the prompt before which the session stands then, and its title.

Options:
    -n, --number N  only the newest N
    --paths         also the checkpoints before and after, and the paths, those
                    kept or in conflict with the reason, and so the refs of git
                    that stayed; all of them with -v, which needs no --paths

The checkpoint before holds everything that the operation overwrote or deleted.
It is a HASH: cairn restore, ls, cat and diff take it.

With --json the answer is an array of {"id", "kind", "time", "target", "undoes",
"before", "after", "paths": [], "kept": [{"path", "reason"}], "conflicts":
[{"path", "reason"}]}, printed as it is read: kind is restore, revert, unrevert,
undo or redo, target the checkpoint that it went back to, undoes the operation
that an undo or redo took back, and the time as in RFC 3339. One that moved
turns of a session has "work", as in cairn log, and one that moved git has
"git": [], what it changed there in words, and "gitConflicts": [{"ref",
"reason"}], the refs that stayed. "outside": [] are absolute paths outside the
root that it changed.

Examples:
    cairn operations -n 1 -v
    cairn diff "$(cairn operations -n 1 --json | jq -r '.[0].before')"
`

func (c *commands) operationsCommand() *cobra.Command {
	var number int
	var paths bool
	cmd := c.Command(cli.Command{
		Use: "operations [-n N] [--paths]", Short: "list what was restored, reverted, undone and redone", Manual: operationsManual,
		Args: cli.ArgCount(0, 0, "no arguments"), Complete: cobra.NoFileCompletions,
		Run: func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			if err := c.checkNumber(cmd, number); err != nil {
				return err
			}
			return c.WithRepo(func(repo *cairn.Repo) error { return c.operations(ctx, repo, number, paths || c.Global.Verbose) })
		},
	})
	registerNumber(cmd, &number)
	cmd.Flags().BoolVar(&paths, "paths", false, "also checkpoints and paths")
	return cmd
}

func (c *commands) operations(ctx context.Context, repo *cairn.Repo, left int, paths bool) error {
	array := c.NewArray()
	moves := operationLines{c, ctx, session.New(repo), make(session.WorkCache)}
	c.tellUnderWay(repo)
	listed := 0
	for op, err := range repo.Operations(ctx) {
		switch {
		case err != nil:
		case ctx.Err() != nil:
			err = ctx.Err()
		case c.Global.JSON:
			err = moves.add(&array, op)
		default:
			err = moves.write(op, paths)
		}
		if err != nil {
			return err
		}
		if listed++; listed == left {
			break
		}
	}
	if c.Global.JSON {
		return array.Close()
	}
	if listed == 0 {
		c.Console.Remark("nothing was restored, reverted or undone yet")
	}
	return nil
}

// tellUnderWay says that the list lacks an operation, and that the directory may be half of what it leads to. A list
// takes no lock, so it finishes nothing.
func (c *commands) tellUnderWay(repo *cairn.Repo) {
	if access.UnderWay(repo) {
		c.Console.Remark("an operation is under way; where its process has died, cairn track or any other command that writes finishes it")
	}
}

// operationLines prints operations for people.
type operationLines struct {
	*commands
	ctx   context.Context
	all   *session.Sessions
	known session.WorkCache
}

// operationItem is an operation in JSON.
type operationItem struct {
	*cairn.Operation
	Work *session.Work `json:"work,omitempty"`
}

func (l *operationLines) add(array *cli.JSONArray, op *cairn.Operation) error {
	work, err := l.work(op)
	if err != nil {
		return err
	}
	return array.Add(operationItem{op, work})
}

// work tells of the session that an operation moved, nil for none.
func (l *operationLines) work(op *cairn.Operation) (*session.Work, error) {
	work, err := l.all.WorkOf(l.ctx, op.After, l.known)
	if errors.Is(err, cairn.ErrNotFound) {
		return nil, nil // cleaned away
	}
	return work, err
}

func (l *operationLines) write(op *cairn.Operation, paths bool) error {
	line := fmt.Sprintf("%.*s  %-7s  %-14s  %s", cli.ShortID, op.ID, wording.Printable(op.Kind),
		wording.Ago(l.Console.Now().Sub(op.When)), wording.Count(len(op.Paths), "path"))
	for _, n := range []struct {
		count int
		what  string
	}{{len(op.Kept), "kept"}, {len(op.Conflicts), "in conflict"}} {
		if n.count > 0 {
			line += fmt.Sprintf(", %d %s", n.count, n.what)
		}
	}
	if len(op.Git)+len(op.GitConflicts) > 0 {
		line += ", git"
	}
	if n := len(op.GitConflicts); n > 0 {
		line += fmt.Sprintf(" (%d in conflict)", n)
	}
	if n := len(op.Outside); n > 0 {
		line += fmt.Sprintf(", %d outside", n)
	}
	if !paths {
		line += wording.FirstPaths(max(8, sessiontext.Width-2-wording.Columns(line)), op.Paths, pathtext.Quote)
	}
	l.IDLine(line)
	if err := l.writeMove(op); err != nil || !paths {
		return err
	}
	fmt.Fprintf(l.Out, "    before %.*s, after %.*s\n", cli.ShortID, op.Before, cli.ShortID, op.After)
	l.ListPaths("    ", op.Paths)
	l.ListPaths("    outside ", op.Outside)
	l.ListReasons("    kept ", op.Kept)
	l.ListReasons("    conflict ", op.Conflicts)
	for _, conflict := range op.GitConflicts {
		l.AnswerLine("    conflict in git " + conflict.Ref.Quoted() + ": " + conflict.Reason)
	}
	return nil
}

// writeMove prints which session an operation moved, and to where.
func (l *operationLines) writeMove(op *cairn.Operation) error {
	work, err := l.work(op)
	if err != nil || work == nil {
		return err
	}
	title, err := l.all.Title(l.ctx, work.Session)
	if err != nil {
		return err
	}
	text := "all of " + title
	if op.Kind == "revert" {
		prompt := wording.FirstLine(cmp.Or(work.Prompt, work.Message), sessiontext.NameColumns)
		if text = "to before: " + prompt; prompt != wording.FirstLine(title, sessiontext.NameColumns) {
			text += "  (" + title + ")"
		}
	}
	l.Out.WriteString("    " + wording.FirstLine(text, sessiontext.Width-4) + "\n")
	return nil
}
