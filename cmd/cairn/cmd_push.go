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
	"github.com/seed-fb9cbc17/cairn/internal/sealed"
	"github.com/seed-fb9cbc17/cairn/internal/transfer"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const pushManual = `cairn push sends the lines of checkpoints to a git repository.

Usage:
    cairn push [--encrypt RECIPIENT]... [REMOTE]

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

With --encrypt, or the setting encrypt, everything is sealed: REMOTE sees sizes,
times and the number of stores, and no name, path, content or prompt. Holders of
a key read it with the setting identity, or with cairn fetch --identity FILE. A
RECIPIENT is one of age (age1...), or the text of a public SSH key, ssh-ed25519
or ssh-rsa; each of several opens all. A remote that was pushed to sealed stays
sealed for the same recipients, without the option, too, until --encrypt none.
With other recipients all lines of the store are sealed again for them, and what
was there is deleted. A lost key cannot be replaced.

The git program does the work, without your configuration. It may use the ssh
agent, ~/.ssh and ~/.netrc, and never asks for a password. Your own repository
has no part in it, and the names of its remotes are unknown here.

With the setting sync the same happens in the background after each turn of an
agent and after commands that make checkpoints, at a low priority and one push
at a time. No command waits for it. Where a push fails, the next turn tries
again, after a pause that grows from a minute to an hour. cairn status tells how
far the remote is behind.

Options:
    --encrypt RECIPIENT  seal for it; may be given several times
    --background         push as the setting sync says, and say nothing

The answer has one line for each line that REMOTE did not have like that yet.
With --json it is {"lines": []}.

Examples:
    cairn push git@example.org:team/checkpoints.git
    cairn push --encrypt "$(cat ~/.ssh/id_ed25519.pub)" /mnt/backup/c.git
`

func (c *cli) pushCommand() *cobra.Command {
	var inBackground bool
	cmd := c.command(command{
		use: "push [--encrypt RECIPIENT]... [REMOTE]", short: "send checkpoints to a git repository", manual: pushManual,
		args: argCount(0, 1, wantRemote), complete: c.firstOnly(completeFiles),
		run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			if inBackground {
				return c.withRepo(func(repo *cairn.Repo) error { return c.sync(ctx, repo) })
			}
			if err := c.checkRecipients(); err != nil {
				return err
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
	cmd.Flags().StringArrayVar(&c.encrypt, "encrypt", nil, "seal for a recipient")
	cmd.Flags().BoolVar(&inBackground, "background", false, "as the setting sync says")
	return cmd
}

// checkRecipients refuses recipients that a push cannot seal for.
func (c *cli) checkRecipients() error {
	if len(c.encrypt) == 0 || slices.Equal(c.encrypt, []string{cairn.EncryptNone}) {
		return nil
	}
	if err := sealed.Check(c.encrypt); err != nil {
		return c.usage("cannot use --encrypt: %s", err)
	}
	return nil
}

// identityFlag adds --identity to a command.
func (c *cli) identityFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.identity, "identity", "", "file with the key of sealed lines")
}

// findIdentity makes the path of --identity absolute.
func (c *cli) findIdentity() (err error) {
	if c.identity != "" {
		c.identity, err = c.fileFrom(c.identity)
	}
	return err
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
