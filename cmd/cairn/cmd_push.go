package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const pushManual = `cairn push sends the lines of checkpoints to a git repository.

Usage:
    cairn push REMOTE

REMOTE is a URL or a path; any git server will do, and many projects and
machines can share one repository. All lines of this directory's store go there,
with names, operations and imported checkpoints. Nothing is deleted there, and
the lines of other stores stay where they are. cairn fetch on another machine
finds them if the root has the same path there.

The git program does the work, without your configuration. It may use the ssh
agent, ~/.ssh and ~/.netrc, and never asks for a password. Your own repository
has no part in it, and the names of its remotes are unknown here.

The answer has one line for each line that REMOTE did not have like that yet.
With --json it is {"lines": []}.

Example:
    cairn push git@example.org:team/checkpoints.git
`

func (c *cli) pushCommand() *cobra.Command {
	return c.remoteCommand(command{
		use: "push REMOTE", short: "send checkpoints to a git repository", manual: pushManual,
	}, (*cairn.Repo).Push, "nothing to push: everything is there already")
}

// remoteCommand is push or fetch.
func (c *cli) remoteCommand(d command, move func(*cairn.Repo, context.Context, string) ([]string, error), nothing string) *cobra.Command {
	d.args, d.complete = argCount(1, 1, "a REMOTE, which is a URL or a path"), c.firstOnly(completeFiles)
	d.run = func(ctx context.Context, _ *cobra.Command, args []string) error {
		remote, err := c.remote(args[0])
		if err != nil {
			return err
		}
		return c.withRepo(func(repo *cairn.Repo) error {
			lines, err := move(repo, ctx, remote)
			if err != nil {
				return err
			}
			return c.printLines(lines, nothing)
		})
	}
	return c.command(d)
}

// remote makes a path absolute, from the current directory. As in git, a text is a path
// unless it is a URL or host:path.
func (c *cli) remote(where string) (string, error) {
	colon, slash := strings.IndexByte(where, ':'), strings.IndexByte(where, '/')
	switch {
	case where == "" || where[0] == '-':
		return "", c.usage("cannot use %s: want a URL or a path", wording.ShellWord(where))
	case filepath.IsAbs(where) || colon >= 0 && (slash < 0 || colon < slash):
		return where, nil
	}
	dir, err := c.workDir()
	return absolute(dir, where), err
}

func (c *cli) printLines(lines []string, nothing string) error {
	if c.global.json {
		return c.writeJSON(struct {
			Lines cairn.Paths `json:"lines"`
		}{lines})
	}
	for _, line := range lines {
		c.answerLine(pathtext.Quote(line))
	}
	if len(lines) == 0 {
		c.console.Remark("%s", nothing)
	}
	return nil
}

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
