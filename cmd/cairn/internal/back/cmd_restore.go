package back

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/goback"
)

const restoreManual = `cairn restore brings the root, or some paths in it, back to a checkpoint.

Usage:
    cairn restore HASH [PATH...] [--keep-new] [--dry-run | --plan ID]
    cairn restore HASH --git[=head,refs,index] [--yes | --dry-run | --plan ID]

Afterwards the paths are as they were: contents, symlinks, permission bits and
empty directories. Files created since are deleted, and so are directories that
the checkpoint did not have. Only what differs is touched; everything else keeps
its time of modification.

Whatever is overwritten or deleted is saved in the store first, ignored and
oversized files included. What the checkpoint may have had without capturing it
(ignored, too large, unreadable) is kept and listed. A path that cannot be
restored is a conflict: it is listed and does not stop the others. If the
process is killed, the next cairn command finishes the job. cairn undo takes a
restore back.

Options:
    --git[=PARTS]
                bring git back: head, refs, index; without PARTS all of them
    --yes       with --git: carry the plan out without a question
    --keep-new  leave files alone that were created since; one that stands in
                the place of a path that comes back is saved and goes
    --dry-run   only list what would be done, and give the plan an id
    --plan ID   carry out the plan of a dry run with the same arguments; if it
                would be another one now, because something was changed
                meanwhile, nothing is done and the exit status is 1

With --git it is the git repository that goes back, and no file: HEAD, refs and
stashes, index, or those that are named. If .git is gone it is built again. Git
is changed only by a plan: the command lists what it would do, and asks on a
terminal; elsewhere it prints the line that does it. A ref goes back only from
where the plan found it, and its reflog says so. No hook runs. A merge, rebase
or the like in progress ends, or comes back, with all three parts and not with
some. Stashes that were made since stay. It is an operation: cairn undo --git
takes it back.

The answer has one line per path: restored, deleted, kept with the reason, or
conflict with the reason; after --dry-run, would create, modify, chmod, delete,
mkdir or rmdir. The exit status is 3 if a path was kept or is in conflict, and 4
if a PATH is neither at the checkpoint nor on disk.

With --json:
    {"operation", "restored": [], "deleted": [], "kept": [{"path", "reason"}],
    "conflicts": [{"path", "reason"}]}, and after --dry-run also
    "plan": [{"path", "action", "bytes"}] and "planID", the bytes being those
    that are written or deleted.

    With --git: {"changes": [], "conflicts": [{"ref", "reason"}]}, and "planID"
    of a plan, or "operation" and "before", the checkpoint of the state before.

Examples:
    cairn restore --dry-run @
    cairn restore @~1 --git=refs
    cairn restore @~1 src go.mod
    cairn restore 1d2f24e4 --keep-new
`

func (c *commands) restoreCommand() *cobra.Command {
	var keepNew, yes bool
	var parts string
	var plan goback.PlanFlags
	cmd := c.Command(cli.Command{
		Use: "restore HASH [PATH...]", Short: "go back to a checkpoint", Manual: restoreManual,
		Args: cli.ArgCount(1, -1, "a HASH and perhaps paths"), Complete: c.CompleteHashThenFiles,
		Run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if err := plan.Check(c.Dialog, cmd); err != nil {
				return err
			}
			paths, err := c.Paths(args[1:])
			if err != nil {
				return err
			}
			git := goback.GitFlags{Git: cmd.Flags().Changed("git"), Yes: yes}
			if err := git.Check(c.Dialog, &plan, nil); err != nil {
				return err
			}
			if git.Git {
				return c.restoreGit(ctx, cmd, args, parts, &plan, yes)
			}
			opt := cairn.RestoreOptions{Paths: paths, KeepNew: keepNew, DryRun: plan.DryRun, Plan: plan.ID}
			return c.WithRepo(func(repo *cairn.Repo) error {
				sayGit := c.gitStays(ctx, repo, args[0])
				res, err := c.restore(ctx, repo, args[0], opt)
				if err != nil {
					return c.PathMeant(ctx, repo, err, "cairn restore @", args...)
				}
				defer sayGit()
				return c.PrintResult(cmd, res, "nothing to restore: everything is as at "+args[0])
			})
		},
	})
	cmd.Flags().BoolVar(&keepNew, "keep-new", false, "leave new files alone")
	cmd.Flags().StringVar(&parts, "git", "", "bring git back, and no file")
	cmd.Flags().Lookup("git").NoOptDefVal = "head,refs,index"
	cli.CompleteFlag(cmd, "git", "head", "refs", "index")
	goback.RegisterYes(cmd, &yes)
	plan.Register(cmd)
	return cmd
}
