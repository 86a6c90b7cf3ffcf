package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
)

const pushManual = `cairn push sends the lines of checkpoints to a git repository.

Usage:
    cairn push REMOTE

REMOTE is a URL or a path; any git server will do, and many projects and
machines can share one repository. All lines of this directory's store go there,
with names, operations and imported checkpoints. Nothing is deleted there, and
nobody else's lines are moved. For cairn fetch elsewhere to find them the root
must have the same path there.

The git program does the work, without your configuration; it may use the ssh
agent, ~/.ssh and ~/.netrc, and asks nobody. Your own repository has no part in
it, and its remotes are not known by name.

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
	d.args, d.complete = takes(1, 1, "a REMOTE, which is a URL or a path"), c.firstOnly(completeFiles)
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

// remote lets a path count from the current directory. What git takes for a path is
// one: no URL, and not host:path.
func (c *cli) remote(where string) (string, error) {
	colon, slash := strings.IndexByte(where, ':'), strings.IndexByte(where, '/')
	switch {
	case where == "" || where[0] == '-':
		return "", c.usage("cannot use %s: want a URL or a path", shellWord(where))
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
		if err := c.writePath(line, false); err != nil {
			return err
		}
	}
	if len(lines) == 0 {
		c.console.remark("%s", nothing)
	}
	return nil
}
