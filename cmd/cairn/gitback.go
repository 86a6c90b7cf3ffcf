package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/lastdone"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// gitFlags are flags of commands that bring git back together with files.
type gitFlags struct{ git, yes bool }

const gitFlag, yesFlag = "git", "yes"

func (f *gitFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.git, gitFlag, false, "git goes back, too")
	registerYes(cmd, &f.yes)
}

func registerYes(cmd *cobra.Command, yes *bool) {
	cmd.Flags().BoolVar(yes, yesFlag, false, "with --git: do not ask")
}

func (f *gitFlags) check(c *cli, plan *planFlags, paths []string) error {
	switch {
	case f.yes && !f.git:
		return c.usage("asks only with --%s: there is nothing to say --%s to", gitFlag, yesFlag)
	case f.yes && (plan.dryRun || plan.id != ""):
		return c.usage("cannot use --%s with --%s or --%s", yesFlag, dryRunFlag, planFlag)
	case f.git && len(paths) > 0:
		return c.usage("brings git back as a whole: no PATH goes with --%s", gitFlag)
	}
	return nil
}

// confirmed carries a move out. If git goes along, a plan is made and shown before, and a person at a
// terminal says yes to it. Without a terminal the plan is all there is. The result is nil if nothing
// was carried out.
func (c *cli) confirmed(ctx context.Context, f *gitFlags, opt *session.MoveOptions, take func() (*cairn.Result, error), tell func(*cairn.Result) error) (*cairn.Result, error) {
	if !f.git || opt.DryRun || opt.Plan != "" {
		return take()
	}
	opt.DryRun = true
	plan, err := take()
	if err != nil {
		return nil, err
	}
	if opt.DryRun, opt.Plan = false, plan.PlanID; f.yes || gitChanges(plan) == 0 && plan.Complete() {
		return take()
	}
	if err := tell(plan); err != nil && err != errPartly || !c.asksNow() {
		return nil, err
	}
	if yes, err := c.ask(ctx, "Carry this out [y/N]? "); !yes || err != nil {
		return nil, err
	}
	return take()
}

// offerGit says that the newest operation counts only with --git, if so. than is what counts without.
func (r *undoRun) offerGit(repo *cairn.Repo, want lastdone.Want, than *lastdone.Choice) {
	if r.f.git.git || want.Turn || r.global.json {
		return
	}
	op, err := access.Lines(repo).NextToTakeBack(r.ctx, r.cmd.Name(), !want.Operation, history.Beyond{Git: true, Outside: r.f.outside})
	if err != nil || op == nil || len(op.Git) == 0 || len(op.Paths) > 0 {
		return
	}
	if than == nil || than.Operation != nil && op.When.After(than.Operation.When) || than.Turn != nil && op.When.After(than.Turn.Last()) {
		r.console.Remark("the newest operation, %s, moved only git: cairn %s --git takes it back", wording.Printable(op.Kind), r.cmd.Name())
	}
}

// asksNow reports whether a question can be put.
func (c *cli) asksNow() bool { return c.asks && !c.global.json && !c.global.quiet }

// ask puts a question. Any answer but yes means no.
func (c *cli) ask(ctx context.Context, question string) (yes bool, err error) {
	if err := c.out.Flush(); err != nil {
		return false, err
	}
	fmt.Fprint(c.console.Writer(), question)
	line, err := bufio.NewReader(interruptibleReader(ctx, c.stdin)).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, nil
	}
	if err != nil {
		fmt.Fprintln(c.console.Writer())
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return false, errNoChoice
}

// listGit lists the changes of git, or those of a plan.
func (c *cli) listGit(res *cairn.GitResult, dryRun bool) {
	would := ""
	if dryRun {
		would = "would "
	}
	if dryRun || !c.global.quiet {
		for _, text := range res.Changes {
			c.answerLine(would + text)
		}
	}
	for _, conflict := range res.Conflicts {
		c.answerLine("conflict " + conflict.Ref.Quoted() + ": " + conflict.Reason)
	}
}

// listOutside lists the paths outside the root that went back, or those of a plan.
func (c *cli) listOutside(res *cairn.OutsideResult, dryRun bool) {
	restored, deleted := "restored ", "deleted "
	if dryRun {
		restored, deleted = "would restore ", "would delete "
	}
	if dryRun || !c.global.quiet {
		c.listPaths(restored, res.Restored)
		c.listPaths(deleted, res.Deleted)
	}
	c.listReasons("kept ", res.Kept)
	c.listReasons("conflict ", res.Conflicts)
}

// gitChanges is the number of changes in git.
func gitChanges(res *cairn.Result) int {
	if res.Git == nil {
		return 0
	}
	return len(res.Git.Changes)
}
