package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
)

const exportManual = `cairn export writes a checkpoint to stdout, for another store or machine.

Usage:
    cairn export HASH > FILE

It is a git bundle with all files and metadata of the checkpoint, but without
its history: cairn import takes it, and any git can clone it or fetch from it.
Exporting the same checkpoint again gives the same bytes. If it fails, FILE has
a part of a bundle, which nothing accepts. A terminal is refused.

There is no --json form.

Examples:
    cairn export @ > state.bundle
    cairn export @ | ssh host 'cairn -C project import'
`

func (c *cli) exportCommand() *cobra.Command {
	return c.command(command{
		use: "export HASH", short: "write a checkpoint to stdout, as a git bundle", manual: exportManual,
		args: takes(1, 1, "a HASH"), complete: c.completeHashes(1),
		run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			switch {
			case c.global.json:
				return c.usage("has no --json form: it prints a git bundle")
			case c.outTerminal:
				return c.usage("does not write to a terminal: send it to a file, as in cairn export %s > FILE", shellWord(args[0]))
			}
			return c.withRepo(func(repo *cairn.Repo) error { return repo.Export(ctx, c.out, args[0]) })
		},
	})
}
