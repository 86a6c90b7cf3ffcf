package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// gitStays returns a function that says, after files went back to a checkpoint, what differs from
// then in the git repository, which stays as it is. The checkpoint is looked up at once: going back
// makes newer ones of the same tree.
func (c *cli) gitStays(ctx context.Context, repo *cairn.Repo, spec string) func() {
	target, err := repo.Lookup(ctx, spec)
	if err != nil {
		return func() {} // the caller fails for the same reason
	}
	return func() { c.sayGit(ctx, repo, target.ID) }
}

// gitStaysOf is gitStays for the operation that took another one back.
func (c *cli) gitStaysOf(ctx context.Context, repo *cairn.Repo, res *cairn.Result) {
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

func (c *cli) sayGit(ctx context.Context, repo *cairn.Repo, checkpoint string) {
	if c.global.json {
		return
	}
	moved, err := repo.GitMoved(ctx, checkpoint, "")
	if err != nil || len(moved) == 0 {
		return // files are back; only the line about git is missing
	}
	c.console.Remark("git stays as it is; since then: %s", strings.Join(moved, ", "))
	c.console.Remark("to bring git back, too: cairn restore %s --git", checkpoint)
}

// gitStanding is the part of status about the git repository.
type gitStanding struct {
	cairn.GitProtection
	Moved []string `json:"moved,omitempty"` // since the newest checkpoint
}

func (c *cli) gitStanding(ctx context.Context, repo *cairn.Repo, checkpoint string) gitStanding {
	s := gitStanding{GitProtection: repo.GitProtection()}
	s.Moved, _ = repo.GitMoved(ctx, checkpoint, "") // what cannot be compared is not said
	return s
}

// String returns the line of status.
func (s gitStanding) String() string {
	return wording.GitStanding(s.On, s.Reason, s.Moved)
}

// restoreGit brings the git repository back, or lists what it would do.
func (c *cli) restoreGit(ctx context.Context, cmd *cobra.Command, args []string, parts string, plan *planFlags, yes bool) error {
	opt := cairn.GitRestoreOptions{DryRun: plan.dryRun || plan.id == "", Plan: plan.id}
	if err := answers.ChooseGit(&opt, strings.Split(parts, ",")...); err != nil {
		return c.usage("--git: %v", err)
	}
	if len(args) > 1 || cmd.Flags().Changed("keep-new") {
		return c.usage("--git brings back no file: it takes neither paths nor --keep-new")
	}
	return c.withRepo(func(repo *cairn.Repo) error {
		res, err := repo.RestoreGit(ctx, args[0], opt)
		if err != nil || opt.Plan != "" {
			return c.unlessFailed(err, cmd, args[0], res)
		}
		asks := !plan.dryRun && len(res.Changes) > 0 && c.asksNow()
		if !yes || len(res.Changes) == 0 {
			if err := c.printGit(cmd, args[0], res); err != nil && err != errPartly || !asks {
				return err
			}
			if yes, err := c.ask(ctx, "Carry this out [y/N]? "); !yes || err != nil {
				return err
			}
		}
		opt.DryRun, opt.Plan = false, res.PlanID
		res, err = repo.RestoreGit(ctx, args[0], opt)
		return c.unlessFailed(err, cmd, args[0], res)
	})
}

func (c *cli) unlessFailed(err error, cmd *cobra.Command, hash string, res *cairn.GitResult) error {
	if err != nil {
		return err
	}
	return c.printGit(cmd, hash, res)
}

func (c *cli) printGit(cmd *cobra.Command, hash string, res *cairn.GitResult) (err error) {
	if c.global.json {
		err = c.writeJSON(res)
	} else {
		c.listGit(res, res.PlanID != "")
		err = c.out.Flush()
		switch {
		case len(res.Changes) == 0:
			c.console.Remark("nothing to do: git is as at %s", hash)
		case res.PlanID != "":
			c.console.Remark("to do exactly this: %s", planLine(cmd, res.PlanID))
		case res.Before != "":
			c.console.Remark("to take it back: cairn undo --git, or cairn restore %s --git", res.Before)
		}
	}
	if err == nil && len(res.Conflicts) > 0 {
		err = errPartly
	}
	return err
}
