package main

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const forkManual = `cairn fork makes a second directory that goes on from here, with a store.

Usage:
    cairn fork DIR [--session S] [--with-ignored[=PATTERN]...] [--dry-run]

DIR gets the present state of the root, uncommitted work and all, which is
captured first. Its store begins with the whole history of this one:
checkpoints, sessions, operations, pins. cairn log, diff, undo and session work
there at once, and an agent can go on in DIR with a session of this directory.
What is done in one of the two never shows in the other. cairn compare DIR and
cairn merge DIR bring the best parts back.

The stores share their packs by hard link where the file system can do that, so
a fork takes little more room than its files; those are cloned or copied as by
cairn checkout. No cleaning of one store takes anything from the other.

DIR lies outside the root, or inside where the root ignores it. Nothing may be
there but an empty directory, and the directory above it exists. .git does not
come along. A session that works in several directories is not forked.

If the process is killed, DIR is as before or whole; the next fork to the same
DIR removes what was left.

Options:
    --session S
                the newest state of this session instead of the present one;
                cairn undo in DIR goes to the present one
    --with-ignored[=PATTERN]
                as for cairn checkout: bring node_modules and the like
    --dry-run   only capture, and say how many files and bytes it would be

The answer and the exit status are those of cairn checkout. With --json there
are also "root" and "store", "session", "packsLinked" and "packsCopied", each
{"files", "bytes"}, and "notForked", the sessions of several directories.

Examples:
    cairn fork ../try-1
    cairn fork ../try-2 --with-ignored=node_modules
    cairn fork ../again --session 0193b2c4
`

func (c *cli) forkCommand() *cobra.Command {
	var opt cairn.ForkOptions
	cmd := c.command(command{
		use: "fork DIR", short: "a second directory that goes on from here", manual: forkManual,
		args: argCount(1, 1, "the DIR to make"), complete: completeFiles,
		run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			paths, err := c.paths(args)
			if err != nil {
				return err
			}
			opt.WithIgnored, opt.Ignored = len(opt.Ignored) > 0, ignoredPatterns(opt.Ignored)
			return c.withRepo(func(repo *cairn.Repo) error {
				if opt.Session != "" {
					if opt.Session, err = session.New(repo).Find(ctx, opt.Session); err != nil {
						return err
					}
				}
				res, err := repo.Fork(ctx, filepath.Clean(paths[0]), opt)
				if err != nil {
					return err
				}
				return c.printFork(res)
			})
		},
	})
	cmd.Flags().StringVar(&opt.Session, sessionFlag, "", "the newest state of this session")
	c.completeSessionFlag(cmd)
	c.registerCopyFlags(cmd, &opt.CheckoutOptions)
	return cmd
}

// printFork prints what a fork made.
func (c *cli) printFork(res *cairn.ForkResult) error {
	if c.global.json {
		err := c.writeJSON(res)
		if err == nil && !res.Complete() {
			err = errPartly
		}
		return err
	}
	if n := len(res.NotForked); n > 0 {
		c.console.Remark("%s of several directories stay here alone", wording.Count(n, "session"))
	}
	return c.printCheckout(&res.CheckoutResult)
}
