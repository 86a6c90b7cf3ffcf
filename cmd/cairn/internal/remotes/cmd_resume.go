package remotes

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/goback"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/session"
)

const resumeManual = `cairn resume goes on with a session, also with one of another machine.

Usage:
    cairn resume [--from REMOTE] [--identity FILE] [--keep-new] [--dry-run]
                 [--plan ID] [SESSION]

The files go to the state of the newest checkpoint of the session and of its
sub-agents, as with cairn restore: what is overwritten or deleted is saved
first, and cairn undo takes it back. A session that cairn fetch brought becomes
one of this store: its turns can be undone here, and its next steps go on from
there. SESSION is an id, its beginning, or @ for the one that was changed last,
which is meant where none is given. It is fetched from the remote of the last
cairn push, else from that of the last fetch or --from, also where it is here:
another machine may have gone on with it. Where that fails, or the remote says
nothing for 5 seconds, what is here goes on.

A session that was only resumed here goes on with what the other machine did
since. Where both machines went on since they parted, by a prompt, a step or a
revert, nothing is done, and the exit status is 1.

Options:
    --from REMOTE    fetch the session first; with @ the newest one of another
                     store
    --identity FILE  the key of sealed lines, as in cairn fetch
    --keep-new       leave files alone that were created since
    --dry-run        only list what would be done, and give the plan an id
    --plan ID        carry out the plan of a dry run, or nothing

The answer is that of cairn restore.

Examples:
    cairn resume --from git@example.org:team/checkpoints.git @
    cairn resume 5a0e
`

func (c *commands) resumeCommand() *cobra.Command {
	var from string
	var keepNew bool
	var plan goback.PlanFlags
	cmd := c.Command(cli.Command{
		Use: "resume [SESSION]", Short: "go on with a session, also of another machine", Manual: resumeManual,
		Args: cli.ArgCount(0, 1, "a SESSION"),
		Complete: func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return c.OfferSessions(cmd.Context(), typed)
		},
		Run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if err := plan.Check(c.Dialog, cmd); err != nil {
				return err
			}
			if err := c.FindIdentity(); err != nil {
				return err
			}
			spec := session.Newest
			if len(args) > 0 {
				spec = args[0]
			}
			work := func(repo *cairn.Repo, remote string) error {
				opt := cairn.RestoreOptions{KeepNew: keepNew, DryRun: plan.DryRun, Plan: plan.ID}
				return c.resume(ctx, cmd, repo, remote, spec, opt)
			}
			if from != "" {
				return c.WithRemote([]string{from}, work)
			}
			return c.WithRepo(func(repo *cairn.Repo) error { return work(repo, "") })
		},
	})
	cmd.Flags().StringVar(&from, "from", "", "fetch the session from there first")
	cmd.Flags().BoolVar(&keepNew, "keep-new", false, "leave new files alone")
	c.IdentityFlag(cmd)
	plan.Register(cmd)
	return cmd
}

func (c *commands) resume(ctx context.Context, cmd *cobra.Command, repo *cairn.Repo, remote, spec string, opt cairn.RestoreOptions) error {
	all := session.New(repo)
	what := answers.Resuming{Spec: spec, First: remote != "", Remote: remote, Fetch: c.TellRemote}
	if opt.Plan == "" { // a plan is for what is here
		what.Stale = func(err error) { c.Console.Remark("nothing newer was fetched: %v", err) }
	}
	id, err := answers.SessionToResume(ctx, repo, all, what)
	if err != nil {
		return err
	}
	res, err := all.Resume(ctx, id, opt)
	if err != nil {
		return err
	}
	return c.PrintResult(cmd, res, "nothing to restore: everything is as session "+id+" left it")
}
