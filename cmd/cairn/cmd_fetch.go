package main

import (
	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
)

const fetchManual = `cairn fetch brings checkpoints from a git repository that cairn push sent there.

Usage:
    cairn fetch REMOTE

The lines come that other stores of this directory have pushed: that is, of a
root with the same path on another machine. Their checkpoints are then a HASH
here, by their ids; @ and cairn log stay as they are, and nothing in the
directory changes until something is restored. What comes is checked first, and
if any of it is damaged or has paths that no checkpoint has, nothing is taken.

What git may use is as in cairn push.

The answer has one line for each line that is new or has moved: the other
store's id, a slash, and its name there. An object that this store has lost and
the remote holds comes back, and has a line of its own. With --json it prints
{"lines": []}.

Example:
    cairn fetch git@example.org:team/checkpoints.git
`

func (c *cli) fetchCommand() *cobra.Command {
	return c.remoteCommand(command{
		use: "fetch REMOTE", short: "bring checkpoints from a git repository", manual: fetchManual,
	}, (*cairn.Repo).Fetch, "nothing to fetch: everything is here already")
}
