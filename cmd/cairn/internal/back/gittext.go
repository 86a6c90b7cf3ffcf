package back

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/goback"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
)

// gitStays returns a function that says, after files went back to a checkpoint, what differs from
// then in the git repository, which stays as it is. The checkpoint is looked up at once: going back
// makes newer ones of the same tree.
func (c *commands) gitStays(ctx context.Context, repo *cairn.Repo, spec string) func() {
	target, err := repo.Lookup(ctx, spec)
	if err != nil {
		return func() {} // the caller fails for the same reason
	}
	return func() { c.sayGit(ctx, repo, target.ID) }
}

// gitStaysOf is gitStays for the operation that took another one back.
func (c *commands) gitStaysOf(ctx context.Context, repo *cairn.Repo, res *cairn.Result) {
	if res.Operation == "" {
		return
	}
	for op, err := range repo.Operations(ctx) {
		if err == nil && op.ID == res.Operation && op.Target != "" {
			c.sayGit(ctx, repo, op.Target)
		}
		return // it is the newest
	}
}

func (c *commands) sayGit(ctx context.Context, repo *cairn.Repo, checkpoint string) {
	if c.Global.JSON {
		return
	}
	moved, err := repo.GitMoved(ctx, checkpoint, "")
	if err != nil || len(moved) == 0 {
		return // files are back; only the line about git is missing
	}
	c.Console.Remark("git stays as it is; since then: %s", strings.Join(moved, ", "))
	c.Console.Remark("to bring git back, too: cairn restore %s --git", checkpoint)
}

// restoreGit brings the git repository back, or lists what it would do.
func (c *commands) restoreGit(
	ctx context.Context, cmd *cobra.Command, args []string, parts string, plan *goback.PlanFlags,
	yes bool,
) error {
	opt := cairn.GitRestoreOptions{DryRun: plan.DryRun || plan.ID == "", Plan: plan.ID}
	if err := answers.ChooseGit(&opt, strings.Split(parts, ",")...); err != nil {
		return c.Usage("--git: %v", err)
	}
	if len(args) > 1 || cmd.Flags().Changed("keep-new") {
		return c.Usage("--git brings back no file: it takes neither paths nor --keep-new")
	}
	return c.WithRepo(func(repo *cairn.Repo) error {
		res, err := repo.RestoreGit(ctx, args[0], opt)
		if err != nil || opt.Plan != "" {
			return c.unlessFailed(err, cmd, args[0], res)
		}
		asks := !plan.DryRun && len(res.Changes) > 0 && c.MayAsk()
		if !yes || len(res.Changes) == 0 {
			if err := c.printGit(cmd, args[0], res); err != nil && err != cli.ErrPartly || !asks {
				return err
			}
			if yes, err := c.AskYes(ctx, "Carry this out [y/N]? "); !yes || err != nil {
				return err
			}
		}
		opt.DryRun, opt.Plan = false, res.PlanID
		res, err = repo.RestoreGit(ctx, args[0], opt)
		return c.unlessFailed(err, cmd, args[0], res)
	})
}

func (c *commands) unlessFailed(err error, cmd *cobra.Command, hash string, res *cairn.GitResult) error {
	if err != nil {
		return err
	}
	return c.printGit(cmd, hash, res)
}

func (c *commands) printGit(cmd *cobra.Command, hash string, res *cairn.GitResult) (err error) {
	if c.Global.JSON {
		err = c.WriteJSON(res)
	} else {
		c.ListGit(res, res.PlanID != "")
		err = c.Out.Flush()
		switch {
		case len(res.Changes) == 0:
			c.Console.Remark("nothing to do: git is as at %s (stashes that were made since stay)", hash)
		case res.PlanID != "":
			c.Console.Remark("to do exactly this: %s", goback.PlanLine(cmd, res.PlanID))
		case res.Before != "":
			c.Console.Remark("to take it back: cairn undo --git")
		}
	}
	if err == nil && len(res.Conflicts) > 0 {
		err = cli.ErrPartly
	}
	return err
}
