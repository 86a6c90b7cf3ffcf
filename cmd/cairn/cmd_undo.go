package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const undoManual = `cairn undo takes back the last restore, revert or redo.

Usage:
    cairn undo [PATH...] [--on-conflict POLICY] [--dry-run | --plan ID]

It touches only what that operation touched, and brings back what it overwrote
or deleted, ignored and oversized files included. Again it takes back the
operation before, and so on for as many as there are, whichever process did
them; cairn operations lists them, and cairn redo takes an undo back.

With PATH only these paths, and everything below them, are taken back; the next
undo goes on with the rest of the operation. An undo that ends in conflict on
every path changes nothing and counts for nothing: the next one tries the same
operation again. With --on-conflict keep it counts, and the next one goes on
with the operation before.

Options:
    --on-conflict POLICY  what becomes of a path that was changed since:
                          merge (the default) brings both changes together, or
                          lets the path stay where they overlap: a conflict;
                          overwrite saves and drops the later change; keep lets
                          the path stay; fail does nothing at all, with exit
                          status 1
    --dry-run             only list what would be done, and give the plan an id
    --plan ID             carry out the plan of a dry run with the same
                          arguments, or nothing if it would be another one now

The answer and the exit status are those of cairn restore; the status is 4 if
there is nothing to undo. A turn of an agent is no operation: cairn undo then
names the newest one and the command that takes it back, cairn session undo.

Examples:
    cairn undo --dry-run
    cairn undo main.go --on-conflict keep
`

func (c *cli) undoCommand() *cobra.Command {
	return c.takeBackCommand(command{
		use: "undo [PATH...]", short: "take back the last restore, revert or redo", manual: undoManual,
	}, (*cairn.Repo).Undo)
}

// takeBackCommand is undo or redo.
func (c *cli) takeBackCommand(d command, takeBack func(*cairn.Repo, context.Context, cairn.RevertOptions) (*cairn.Result, error)) *cobra.Command {
	var policy string
	var plan planFlags
	d.args, d.complete = cobra.ArbitraryArgs, completeFiles
	d.run = func(ctx context.Context, cmd *cobra.Command, args []string) (err error) {
		opt := cairn.RevertOptions{DryRun: plan.dryRun, Plan: plan.id}
		if opt.OnConflict, err = c.policy(cmd, policy); err != nil {
			return err
		}
		if err := plan.check(c, cmd); err != nil {
			return err
		}
		if opt.Paths, err = c.paths(args); err != nil {
			return err
		}
		return c.withRepo(func(repo *cairn.Repo) error {
			res, err := takeBack(repo, ctx, opt)
			if err != nil {
				return c.withTurn(ctx, repo, err)
			}
			defer c.gitStaysOf(ctx, repo, res)
			nothing := "nothing to " + cmd.Name() + ": it is taken back already"
			if len(args) > 0 {
				nothing = "nothing to " + cmd.Name() + " in these paths"
			}
			return c.printResult(cmd, res, nothing)
		})
	}
	cmd := c.command(d)
	registerPolicy(cmd, &policy)
	plan.register(cmd)
	return cmd
}

const redoManual = `cairn redo takes back the last undo.

Usage:
    cairn redo [PATH...] [--on-conflict POLICY] [--dry-run | --plan ID]

It touches only what the undo touched. Again it takes back the undo before, and
so on. After another restore or revert there is nothing to redo.

Options:
    --on-conflict POLICY  what becomes of a path that was changed since the
                          undo: merge (the default), overwrite, keep or fail, as
                          in cairn undo
    --dry-run             only list what would be done, and give the plan an id
    --plan ID             carry out the plan of a dry run with the same
                          arguments, or nothing if it would be another one now

The answer and the exit status are those of cairn restore; the status is 4 if
there is nothing to redo.
`

func (c *cli) redoCommand() *cobra.Command {
	return c.takeBackCommand(command{
		use: "redo [PATH...]", short: "take back the last undo", manual: redoManual,
	}, (*cairn.Repo).Redo)
}

// maxAsked bounds how many sessions are read for a hint.
const maxAsked = 10

// withTurn adds to "nothing to undo" the turn of an agent that can be taken back, and
// the command for it. A turn is no operation, so cairn undo does not take it back.
func (c *cli) withTurn(ctx context.Context, repo *cairn.Repo, err error) error {
	if !errors.Is(err, cairn.ErrNotFound) || !strings.Contains(err.Error(), "nothing to undo") {
		return err
	}
	all := session.New(repo)
	list, lerr := all.List(ctx)
	if lerr != nil {
		return err
	}
	slices.SortFunc(list, func(a, b *session.Session) int { return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(b.ID, a.ID)) })
	for _, s := range list[:min(len(list), maxAsked)] {
		if s.Parent != "" {
			continue // its parent's undo takes it back
		}
		if turn := c.newestTurn(ctx, all, s); turn != "" {
			return fmt.Errorf("%w: %s can be taken back: cairn session undo %s", err, turn, wording.ShellWord(s.ID))
		}
	}
	return err
}

// newestTurn describes the turn that session undo would take back, "" for none.
func (c *cli) newestTurn(ctx context.Context, all *session.Sessions, s *session.Session) string {
	history, err := all.History(ctx, s.ID)
	if err != nil {
		return ""
	}
	for _, m := range slices.Backward(history) {
		files := make(map[string]bool)
		for _, step := range m.Steps {
			for _, file := range step.Patch.Files {
				files[file] = true
			}
		}
		if m.Reverted || len(files) == 0 {
			continue
		}
		prompt, _, _ := strings.Cut(strings.TrimSpace(m.Prompt), "\n")
		what := "the newest turn of " + wording.Printable(cmp.Or(s.Meta["agent"], "session "+s.ID))
		if prompt != "" {
			what += fmt.Sprintf(", %s,", wording.Printable(fmt.Sprintf("%q", firstRunes(prompt, 60))))
		}
		return fmt.Sprintf("%s (%s, %s)", what, wording.Count(len(files), "file"), wording.Ago(c.console.Now().Sub(m.Created)))
	}
	return ""
}

func firstRunes(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return text
}
