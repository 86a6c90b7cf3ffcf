package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
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
