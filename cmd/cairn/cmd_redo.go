package main

import (
	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
)

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
