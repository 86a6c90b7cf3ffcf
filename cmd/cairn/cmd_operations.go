package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const operationsManual = `cairn operations lists what was restored, reverted, undone and redone, newest
first.

Usage:
    cairn operations [-n N] [--paths]

Each line has the first 12 digits of the operation's id, what it was, its age,
how many paths it changed, and how many it kept or left in conflict.

Options:
    -n, --number N  only the newest N
    --paths         also the checkpoints before and after, and the paths, those
                    kept or in conflict with the reason; all of them with -v,
                    which needs no --paths

The checkpoint before holds everything that the operation overwrote or deleted.
It is a HASH: cairn restore, ls, cat and diff take it.

With --json the answer is an array of {"id", "kind", "time", "target", "undoes",
"before", "after", "paths": [], "kept": [{"path", "reason"}], "conflicts":
[{"path", "reason"}]}, printed as it is read: kind is restore, revert, unrevert,
undo or redo, target the checkpoint that it went back to, undoes the operation
that an undo or redo took back, and the time as in RFC 3339.

Examples:
    cairn operations -n 1 -v
    cairn diff "$(cairn operations -n 1 --json | jq -r '.[0].before')"
`

func (c *cli) operationsCommand() *cobra.Command {
	var number int
	var paths bool
	cmd := c.command(command{
		use: "operations [-n N] [--paths]", short: "list what was restored, reverted, undone and redone", manual: operationsManual,
		args: argCount(0, 0, "no arguments"), complete: cobra.NoFileCompletions,
		run: func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			if err := c.checkNumber(cmd, number); err != nil {
				return err
			}
			return c.withRepo(func(repo *cairn.Repo) error { return c.operations(ctx, repo, number, paths || c.global.verbose) })
		},
	})
	registerNumber(cmd, &number)
	cmd.Flags().BoolVar(&paths, "paths", false, "also checkpoints and paths")
	return cmd
}

func (c *cli) operations(ctx context.Context, repo *cairn.Repo, left int, paths bool) error {
	array := jsonArray{c: c}
	listed := 0
	for op, err := range repo.Operations(ctx) {
		switch {
		case err != nil:
		case ctx.Err() != nil:
			err = ctx.Err()
		case c.global.json:
			err = array.add(op)
		default:
			c.writeOperation(op, paths)
		}
		if err != nil {
			return err
		}
		if listed++; listed == left {
			break
		}
	}
	if c.global.json {
		return array.close()
	}
	if listed == 0 {
		c.console.Remark("nothing was restored, reverted or undone yet")
	}
	return nil
}

func (c *cli) writeOperation(op *cairn.Operation, paths bool) {
	fmt.Fprintf(c.out, "%.*s  %-7s  %-14s  %s", shortID, op.ID, wording.Printable(op.Kind),
		wording.Ago(c.console.Now().Sub(op.When)), wording.Count(len(op.Paths), "path"))
	for _, n := range []struct {
		count int
		what  string
	}{{len(op.Kept), "kept"}, {len(op.Conflicts), "in conflict"}} {
		if n.count > 0 {
			fmt.Fprintf(c.out, ", %d %s", n.count, n.what)
		}
	}
	c.out.WriteByte('\n')
	if !paths {
		return
	}
	fmt.Fprintf(c.out, "    before %.*s, after %.*s\n", shortID, op.Before, shortID, op.After)
	c.listPaths("    ", op.Paths)
	c.listReasons("    kept ", op.Kept)
	c.listReasons("    conflict ", op.Conflicts)
}
