package remotes

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/background"
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

The git program does the work, without your configuration but for
safe.directory, which lets it into a REMOTE of another user. It may use the ssh
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

func (c *commands) pushCommand() *cobra.Command {
	var inBackground bool
	cmd := c.Command(cli.Command{
		Use: "push [--encrypt RECIPIENT]... [REMOTE]", Short: "send checkpoints to a git repository", Manual: pushManual,
		Args: cli.ArgCount(0, 1, cli.WantRemote), Complete: c.FirstOnly(cli.CompleteFiles),
		Run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			if inBackground {
				c.LeaveSealed = true
				return c.WithRepo(func(repo *cairn.Repo) error { return c.sync(ctx, repo) })
			}
			if err := c.CheckRecipients(); err != nil {
				return err
			}
			return c.WithRemote(args, func(repo *cairn.Repo, remote string) error {
				lines, err := repo.Push(ctx, remote)
				if err != nil {
					return err
				}
				nothing := ""
				if len(lines) == 0 {
					nothing = nothingPushed(ctx, repo, remote)
				}
				return c.PrintLines(lines, nothing)
			})
		},
	})
	c.RecipientFlag(cmd)
	cmd.Flags().BoolVar(&inBackground, "background", false, "as the setting sync says")
	return cmd
}

// nothingPushed says why a push has sent no line: a remote that takes only whole lines lacks the others.
func nothingPushed(ctx context.Context, repo *cairn.Repo, remote string) string {
	if known, err := repo.Remote(); err == nil && known == remote {
		if s, err := repo.RemoteStatus(ctx); err == nil && s != nil && s.Behind > 0 {
			return "nothing was pushed: the remote lacks " + wording.Count(s.Behind, "checkpoint")
		}
	}
	return "nothing to push: everything is there already"
}

// sync pushes the lines that have moved. The store keeps the reason of a failure, which is normal offline.
func (c *commands) sync(ctx context.Context, repo *cairn.Repo) error {
	background.GiveWay()
	ctx, cancel := context.WithTimeout(ctx, cli.BackgroundLimit)
	defer cancel()
	_, _ = repo.Sync(ctx)
	return nil
}
