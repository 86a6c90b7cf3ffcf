package record

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const stepFlag = "step"

// step is the one step that the flags name, "" for none.
func (f *sessionFlags) step() string { return strings.Join(f.steps, "") }

// checkSteps refuses several steps for a verb that is about one, and steps of several messages for
// one that is about a turn or a message.
func (r *sessionRun) checkSteps(verb string) error {
	if err := r.checkReverted(); err != nil {
		return err
	}
	if r.cmd.Flags().Changed(stepFlag) && slices.Contains(r.f.steps, "") {
		return r.Usage("wants an id behind --step")
	}
	switch {
	case len(r.f.steps) < 2:
		return nil
	case verb != "diff" && verb != "revert":
		return r.Usage("%s wants one --step", verb)
	case r.f.turn != "" || r.f.message != "":
		return r.Usage("takes either several --step or a --turn or --message")
	}
	return nil
}

// ownChanges are the changes that the hunks of revert and diff are of.
func (r *sessionRun) ownChanges() (*session.OwnChanges, error) {
	if r.f.reverted || r.verb == "unrevert" {
		return r.all.RevertedChanges(r.ctx, r.args[0])
	}
	if len(r.f.steps) > 1 {
		return r.all.OwnChangesOf(r.ctx, r.args[0], r.f.steps)
	}
	in, err := r.scope()
	if err != nil {
		return nil, err
	}
	return r.all.OwnChanges(r.ctx, r.args[0], in)
}

// diffOwn shows what several steps changed themselves, or reverts. They have no state before that they
// share, so the old side of a file is the new one without them.
func (r *sessionRun) diffOwn(opt cairn.DiffOptions) error {
	own, err := r.ownChanges()
	if err != nil {
		return err
	}
	if !r.Global.JSON {
		return own.WriteDiff(r.ctx, r.Out, own.List, opt)
	}
	array := r.NewArray()
	for d, err := range own.FileDiffs(r.ctx, own.List, opt) {
		if err == nil {
			err = array.Add(&d)
		}
		if err != nil {
			return err
		}
	}
	return array.Close()
}

// revertSteps takes the chosen steps back, or the paths of them that --path names. The boundary
// stays.
func (r *sessionRun) revertSteps() error {
	if r.f.turn != "" || r.f.message != "" || r.f.part != "" || r.f.start || r.f.endOpen || r.f.git.Git {
		return r.Usage("takes steps back without --turn, --message, --part, --start, --end-open and --git")
	}
	return r.movePaths("nothing to revert: nothing is left of these steps", func(opt cairn.RevertOptions) (*cairn.Result, error) {
		return r.all.RevertSteps(r.ctx, r.args[0], r.f.steps, opt)
	})
}

// tellTaken prints what went back of a session whose boundary stays.
func (r *sessionRun) tellTaken(res *cairn.Result, nothing string) error {
	if !r.Global.JSON {
		return r.PrintResult(r.cmd, res, nothing)
	}
	s, err := r.all.Get(r.ctx, r.args[0])
	if err != nil {
		return err
	}
	return r.writeMoved(s, res, nil)
}

// completeStepFlag completes the steps that an option of cairn session can name.
func (c *commands) completeStepFlag(cmd *cobra.Command) {
	complete := func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return c.offerSteps(cmd.Context(), strings.Join(args[min(1, len(args)):min(2, len(args))], ""), typed)
	}
	if err := cmd.RegisterFlagCompletionFunc(stepFlag, complete); err != nil {
		panic("internal error: " + err.Error())
	}
}

// offerSteps offers the steps of a session, the newest first, described by age, tools and prompt.
func (c *commands) offerSteps(ctx context.Context, spec, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	var offers []cobra.Completion
	for _, m := range slices.Backward(c.HistoryForCompletion(ctx, spec)) {
		for _, st := range slices.Backward(m.Steps) {
			if len(offers) < cli.MaxOffered && strings.HasPrefix(st.ID, typed) && !strings.ContainsFunc(st.ID, wording.IsControl) {
				said := wording.FirstLine(cmp.Or(st.Said(), m.Prompt), cli.AboutColumns)
				offers = append(offers, cobra.CompletionWithDesc(st.ID, c.AgeAndMessage(st.Began, said)))
			}
		}
	}
	return offers, directive
}
