package remotes

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
)

const fetchManual = `cairn fetch brings checkpoints from a git repository that cairn push sent there.

Usage:
    cairn fetch [--identity FILE] [REMOTE [SESSION]]
    cairn fetch --list [--all] [--identity FILE] [REMOTE]

The lines come that other stores of this project have pushed, from any machine
and any path. A project is known by the first commit of its git repository and
the path within, so that clones and forks of a repository are one project, or by
an id that cairn adopt --id gave it; without either by its path. The URL of a
remote has no part in that. Fetched checkpoints are a HASH here, by their ids,
and cairn log --fetched lists them; @ and cairn log stay as they are, and
nothing in the directory changes until something is restored. What comes is
checked first, and if any of it is damaged or has paths that no checkpoint has,
nothing is taken.

With SESSION only that session comes: an id, its beginning, or @ for the one
that was changed last elsewhere. REMOTE may also be another store of this
machine, as cairn du --json names it. Without REMOTE it is the one of the last
cairn push, else the one from which something was fetched last.

Lines that cairn push --encrypt has sealed need the key, by --identity or the
setting identity. Open lines beside them come without. A remote that shows an
older state of a sealed store than before is refused.

Options:
    --list           show machines, users and sessions of this project on REMOTE
    --all            with --list: of all projects, also those of earlier
                     releases
    --identity FILE  identities of age, or private SSH keys without a
                     passphrase

What git may use is as in cairn push.

The answer has one line for each line that is new or has moved: the other
store's id, a slash, and its name there. An object that this store has lost and
the remote holds comes back, and has a line of its own. With --json it prints
{"lines": []}, and with --list {"projects": []}.

Examples:
    cairn fetch git@example.org:team/checkpoints.git
    cairn fetch --list git@example.org:team/checkpoints.git
    cairn fetch git@example.org:team/checkpoints.git @
`

// fetchFlags are the options of fetch.
type fetchFlags struct{ list, all bool }

func (c *commands) fetchCommand() *cobra.Command {
	var f fetchFlags
	cmd := c.Command(cli.Command{
		Use: "fetch [--list [--all]] [--identity FILE] [REMOTE [SESSION]]", Short: "bring checkpoints from a git repository", Manual: fetchManual,
		Args: cli.ArgCount(0, 2, cli.WantRemote+", and perhaps a SESSION"), Complete: c.FirstOnly(cli.CompleteFiles),
		Run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			switch {
			case f.all && !f.list:
				return c.Usage("--all is for --list")
			case f.list && len(args) > 1:
				return c.Usage("--list takes no SESSION")
			}
			if err := c.FindIdentity(); err != nil {
				return err
			}
			return c.WithSource(args, func(repo *cairn.Repo, remote string) error {
				return c.fetch(ctx, repo, remote, args[min(1, len(args)):], f)
			})
		},
	})
	cmd.Flags().BoolVar(&f.list, "list", false, "show machines, users and sessions")
	cmd.Flags().BoolVar(&f.all, "all", false, "with --list: of all projects")
	c.IdentityFlag(cmd)
	return cmd
}

func (c *commands) fetch(ctx context.Context, repo *cairn.Repo, remote string, session []string, f fetchFlags) error {
	if f.list {
		list, err := repo.ListRemote(ctx, remote, f.all)
		if err != nil {
			return err
		}
		return c.printProjects(list)
	}
	got, err := answers.Fetch(ctx, repo, remote, strings.Join(session, ""))
	if err != nil {
		return err
	}
	if len(got.Lines) > 0 {
		c.Console.Remark("cairn log --fetched lists the checkpoints, cairn session list the sessions")
	}
	return c.PrintLines(got.Lines, "nothing to fetch: everything is here already")
}

// printProjects prints what a remote holds. Every text of it came from there.
func (c *commands) printProjects(list []cairn.RemoteProject) error {
	if c.Global.JSON {
		return c.WriteJSON(struct {
			Projects []cairn.RemoteProject `json:"projects"`
		}{list})
	}
	for _, line := range answers.RemoteLines(list) {
		c.AnswerLine(line)
	}
	if len(list) == 0 {
		c.Console.Remark("no checkpoints of cairn there")
	}
	return nil
}
