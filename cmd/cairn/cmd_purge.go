package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const purgeManual = `cairn purge takes the contents of files out of the whole history.

Usage:
    cairn purge PATH...
    cairn purge --lift PATH...

Every checkpoint, operation, session and pin that holds a PATH, or something
below it, is rewritten without it, and the store is cleaned to the last byte.
The checkpoints become partial: the path counts as present, but not captured, so
that going back to them leaves it alone. They get new ids; the old ones still
find them. This cannot be undone.

The file in the directory itself is not touched. It is not captured any more,
until --lift says so. Copies of the same contents under other paths stay, and
that is said. So does what was exported or pushed elsewhere.

A PATH outside the root is taken out of what was saved for cairn undo --outside.

Options:
    --lift  let purged paths be captured again; what was purged stays gone

With --json:
    {"paths", "checkpoints", "freed", "elsewhere"}: the paths that were found,
    the ids of the checkpoints that became partial, bytes, and the ids of
    contents that other paths hold, too.
`

func (c *cli) purgeCommand() *cobra.Command {
	var lift bool
	cmd := c.command(command{
		use: "purge PATH...", short: "take files out of the whole history", manual: purgeManual,
		args: argCount(1, -1, "at least one PATH"), complete: completeFiles,
		run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			paths, err := c.paths(args)
			if err != nil {
				return err
			}
			return c.withRepo(func(repo *cairn.Repo) error {
				if lift {
					return repo.Unpurge(ctx, paths)
				}
				done, err := repo.Purge(ctx, paths)
				if err != nil {
					return err
				}
				return c.printPurged(done)
			})
		},
	})
	cmd.Flags().BoolVar(&lift, "lift", false, "let purged paths be captured again")
	return cmd
}

func (c *cli) printPurged(done *cairn.PurgeResult) (err error) {
	if c.global.json {
		err = c.writeJSON(done)
	} else {
		if !c.global.quiet {
			c.listPaths("purged ", done.Paths)
			c.listPaths("partial ", done.Checkpoints)
		}
	}
	c.console.Remark("freed %s; what was exported or pushed is not touched", wording.Size(done.Freed))
	if n := len(done.Elsewhere); n > 0 {
		c.console.Remark("the contents of %s are still stored, because other paths hold the same", wording.Count(n, "file"))
		if err == nil {
			err = errPartly
		}
	}
	return err
}
