package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/background"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/transfer"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const pushManual = `cairn push sends the lines of checkpoints to a git repository.

Usage:
    cairn push [REMOTE]

REMOTE is a URL or a path. Where none is given it is that of the setting sync,
or of the last push. Any git server will do, and many projects and machines can
share one repository. All lines of this directory's store go there, with names,
operations and imported checkpoints. Nothing is deleted there, and the lines of
other stores stay where they are. cairn fetch on another machine finds them
wherever the project lies there: a project is known by the first commit of its
git repository and the path within, or by an id that cairn adopt --id gave it.
Without either it is known by its path.

A note goes along for cairn fetch --list: the names of this machine, its user
and the directory, and the first prompt of each session.

The git program does the work, without your configuration. It may use the ssh
agent, ~/.ssh and ~/.netrc, and never asks for a password. Your own repository
has no part in it, and the names of its remotes are unknown here.

With the setting sync the same happens in the background after each turn of an
agent and after commands that make checkpoints, at a low priority and one push
at a time. No command waits for it. Where a push fails, the next turn tries
again, after a pause that grows from a minute to an hour. cairn status tells how
far the remote is behind.

Options:
    --background  push as the setting sync says, and say nothing

The answer has one line for each line that REMOTE did not have like that yet.
With --json it is {"lines": []}.

Example:
    cairn push git@example.org:team/checkpoints.git
`

func (c *cli) pushCommand() *cobra.Command {
	var inBackground bool
	cmd := c.command(command{
		use: "push [REMOTE]", short: "send checkpoints to a git repository", manual: pushManual,
		args: argCount(0, 1, wantRemote), complete: c.firstOnly(completeFiles),
		run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			if inBackground {
				return c.withRepo(func(repo *cairn.Repo) error { return c.sync(ctx, repo) })
			}
			return c.withRemote(args, func(repo *cairn.Repo, remote string) error {
				lines, err := repo.Push(ctx, remote)
				if err != nil {
					return err
				}
				return c.printLines(lines, "nothing to push: everything is there already")
			})
		},
	})
	cmd.Flags().BoolVar(&inBackground, "background", false, "as the setting sync says")
	return cmd
}

// sync pushes what is new. The store keeps the reason of a failure, which is normal offline.
func (c *cli) sync(ctx context.Context, repo *cairn.Repo) error {
	background.GiveWay()
	ctx, cancel := context.WithTimeout(ctx, backgroundLimit)
	defer cancel()
	_, _ = repo.Sync(ctx)
	return nil
}

// syncsAfter lists the commands, beside the hooks, that may begin a push in the background.
var syncsAfter = []string{
	"track", "restore", "revert", "merge", "undo", "redo", "wait", "run", "resume", "pin", "unpin", "import", "test",
}

// syncLater starts a push in a process of its own where the setting sync wants one. If the process cannot
// be started, the next command tries again.
func (c *cli) syncLater() {
	if c.last == nil || !c.background() || c.last.Sync == "" || !c.turnEnded && !slices.Contains(syncsAfter, c.running) {
		return
	}
	_ = c.spawn(syncArgs(c.last))
}

// syncArgs is the command line of a push in the background.
func syncArgs(opt *cairn.Options) []string {
	return []string{"push", "--background", "--quiet", "--root", opt.Root, "--data-dir", opt.DataDir}
}

const wantRemote = "a REMOTE, which is a URL or a path"

// withRemote opens the project for work with the remote that is the first argument, else with the one
// that the store remembers.
func (c *cli) withRemote(args []string, f func(repo *cairn.Repo, remote string) error) (err error) {
	remote := ""
	if len(args) > 0 {
		if remote, err = c.remote(args[0]); err != nil {
			return err
		}
	}
	return c.withRepo(func(repo *cairn.Repo) error {
		if remote == "" {
			if remote, err = c.remembered(repo); err != nil {
				return err
			}
		}
		return f(repo, remote)
	})
}

// remembered is the remote of the last push. A remark names it.
func (c *cli) remembered(repo *cairn.Repo) (string, error) {
	remote, err := repo.Remote()
	switch {
	case err != nil:
		return "", err
	case remote == "":
		return "", c.usage("wants %s: none is remembered (cairn push REMOTE does that)", wantRemote)
	}
	c.tellRemote(remote)
	return remote, nil
}

// tellRemote names the remote of a command that was given none.
func (c *cli) tellRemote(remote string) {
	c.console.Remark("the remote is %s", wording.Printable(transfer.Redacted(remote)))
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
