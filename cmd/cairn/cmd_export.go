package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
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
		args: argCount(1, 1, "a HASH"), complete: c.completeHashes(1),
		run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			switch {
			case c.global.json:
				return c.usage("has no --json form: it prints a git bundle")
			case c.outTerminal:
				return c.usage("does not write to a terminal: send it to a file, as in cairn export %s > FILE", wording.ShellWord(args[0]))
			}
			return c.withRepo(func(repo *cairn.Repo) error { return repo.Export(ctx, c.out, args[0]) })
		},
	})
}

const importManual = `cairn import takes a checkpoint from stdin that cairn export wrote.

Usage:
    cairn import < FILE

It prints the id of the tree, as cairn track does. The checkpoint is then a HASH
here, by that id or its own; it does not become @, and nothing in the directory
changes until it is restored. A bundle that was cut off or altered is refused,
and so is one with paths that no checkpoint has: nothing of it is in the store
then. A terminal is refused.

With --json the answer is {"id", "hash", "time", "author", "message"}.

Example:
    cairn restore "$(cairn import < state.bundle)"
`

func (c *cli) importCommand() *cobra.Command {
	return c.command(command{
		use: "import", short: "take a checkpoint from stdin", manual: importManual,
		args: argCount(0, 0, "no arguments: the bundle comes from stdin, as in cairn import < FILE"), complete: cobra.NoFileCompletions,
		run: func(ctx context.Context, _ *cobra.Command, _ []string) error {
			if isTerminal(c.stdin) {
				return c.usage("does not read from a terminal: give it a file, as in cairn import < FILE")
			}
			return c.withRepo(func(repo *cairn.Repo) error {
				cp, err := repo.Import(ctx, interruptibleReader(ctx, c.stdin))
				if err != nil {
					return err
				}
				return c.printImport(cp)
			})
		},
	})
}

func (c *cli) printImport(cp *cairn.Checkpoint) error {
	if c.global.json {
		return c.writeJSON(logEntry{ID: cp.ID, Hash: cp.Hash, Time: cp.When, Author: cp.Author, Message: cp.Message})
	}
	_, err := c.out.WriteString(cp.Hash + "\n")
	return err
}
