package goback

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/session"
)

// GitFlags are flags of commands that bring git back together with files.
type GitFlags struct{ Git, Yes bool }

const gitFlag, yesFlag = "git", "yes"

// Register adds the flags to a command.
func (f *GitFlags) Register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.Git, gitFlag, false, "git goes back, too")
	RegisterYes(cmd, &f.Yes)
}

// RegisterYes adds --yes to a command.
func RegisterYes(cmd *cobra.Command, yes *bool) {
	cmd.Flags().BoolVar(yes, yesFlag, false, "with --git: do not ask")
}

// Check refuses flags that do not go together.
func (f *GitFlags) Check(c *Dialog, plan *PlanFlags, paths []string) error {
	switch {
	case f.Yes && !f.Git:
		return c.Usage("asks only with --%s: there is nothing to say --%s to", gitFlag, yesFlag)
	case f.Yes && (plan.DryRun || plan.ID != ""):
		return c.Usage("cannot use --%s with --%s or --%s", yesFlag, DryRunFlag, PlanFlag)
	case f.Git && len(paths) > 0:
		return c.Usage("brings git back as a whole: no PATH goes with --%s", gitFlag)
	}
	return nil
}

// Confirmed carries a move out. If git goes along, a plan is made and shown before, and a person at a
// terminal says yes to it. Without a terminal the plan is all there is. The result is nil if nothing
// was carried out.
func (c *Dialog) Confirmed(
	ctx context.Context, f *GitFlags, opt *session.MoveOptions, take func() (*cairn.Result, error),
	tell func(*cairn.Result) error,
) (*cairn.Result, error) {
	if !f.Git || opt.DryRun || opt.Plan != "" {
		return take()
	}
	opt.DryRun = true
	plan, err := take()
	if err != nil {
		return nil, err
	}
	if opt.DryRun, opt.Plan = false, plan.PlanID; f.Yes || GitChanges(plan) == 0 && plan.Complete() {
		return take()
	}
	if err := tell(plan); err != nil && err != cli.ErrPartly || !c.MayAsk() {
		return nil, err
	}
	if yes, err := c.AskYes(ctx, "Carry this out [y/N]? "); !yes || err != nil {
		return nil, err
	}
	return take()
}

// MayAsk reports whether a question can be put.
func (c *Dialog) MayAsk() bool { return c.CanAsk && !c.Global.JSON && !c.Global.Quiet }

// AskYes puts a question. Any answer but yes means no.
func (c *Dialog) AskYes(ctx context.Context, question string) (yes bool, err error) {
	if err := c.Out.Flush(); err != nil {
		return false, err
	}
	fmt.Fprint(c.Console.Questions(), question)
	line, err := bufio.NewReader(cli.InterruptibleReader(ctx, c.Stdin)).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, nil
	}
	if err != nil {
		fmt.Fprintln(c.Console.Writer())
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return false, ErrNoChoice
}

// ListGit lists the changes of git, or those of a plan.
func (c *Dialog) ListGit(res *cairn.GitResult, dryRun bool) {
	would := ""
	if dryRun {
		would = "would "
	}
	if dryRun || !c.Global.Quiet {
		for _, text := range res.Changes {
			c.AnswerLine(would + text)
		}
	}
	for _, conflict := range res.Conflicts {
		c.AnswerLine("conflict " + conflict.Ref.Quoted() + ": " + conflict.Reason)
	}
}

// listOutside lists the paths outside the root that went back, or those of a plan.
func (c *Dialog) listOutside(res *cairn.OutsideResult, dryRun bool) {
	restored, deleted := "restored ", "deleted "
	if dryRun {
		restored, deleted = "would restore ", "would delete "
	}
	if dryRun || !c.Global.Quiet {
		c.ListPaths(restored, res.Restored)
		c.ListPaths(deleted, res.Deleted)
	}
	c.ListReasons("kept ", res.Kept)
	c.ListReasons("conflict ", res.Conflicts)
}

// GitChanges is the number of changes in git.
func GitChanges(res *cairn.Result) int {
	if res.Git == nil {
		return 0
	}
	return len(res.Git.Changes)
}

// ErrNoChoice ends an undo whose question was not answered.
var ErrNoChoice = errors.New("nothing was chosen, and nothing was done")
