package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// sessionFlag names a session.
const sessionFlag = "session"

// completeSessionFlag completes the sessions that an option can name.
func (c *cli) completeSessionFlag(cmd *cobra.Command) {
	complete := func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return c.offerSessions(cmd.Context(), typed)
	}
	if err := cmd.RegisterFlagCompletionFunc(sessionFlag, complete); err != nil {
		panic("internal error: " + err.Error())
	}
}

// offerSessions offers the ids of the newest sessions, described by agent, age and title.
func (c *cli) offerSessions(ctx context.Context, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp
	repo, err := c.openForCompletion()
	if err != nil {
		return nil, directive
	}
	defer repo.Close()
	list, err := session.New(repo).List(ctx)
	if err != nil {
		return nil, directive
	}
	var offers []cobra.Completion
	for _, s := range list[:min(len(list), maxOffered)] {
		if strings.HasPrefix(s.ID, typed) && !strings.ContainsFunc(s.ID, wording.IsControl) {
			offers = append(offers, cobra.CompletionWithDesc(s.ID, c.about(s.Updated, sessionAbout(s))))
		}
	}
	return offers, directive | cobra.ShellCompDirectiveKeepOrder
}

// aboutColumns is the width of a description of a completion.
const aboutColumns = 72

// sessionAbout describes a session by its agent, its model and its title.
func sessionAbout(s *session.Session) string {
	return strings.Join(wording.Wrap(1<<10, s.Agent, s.Model, wording.FirstLine(s.Title, aboutColumns)), "")
}

// offerTurns offers the turns of a session by number, the newest first, described by age and prompt.
// lead stands before each number.
func (c *cli) offerTurns(ctx context.Context, lead, spec, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	var offers []cobra.Completion
	for _, t := range slices.Backward(session.Turns(c.historyForCompletion(ctx, spec))) {
		number := strconv.Itoa(t.Number)
		if len(offers) < maxOffered && strings.HasPrefix(number, typed) {
			offers = append(offers, cobra.CompletionWithDesc(lead+number, c.about(t.Last(), wording.FirstLine(t.Prompt(), aboutColumns))))
		}
	}
	return offers, directive
}

// offerSessionOrTurn offers sessions, and behind the colon the turns of one.
func (c *cli) offerSessionOrTurn(ctx context.Context, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if spec, turn, ok := strings.Cut(typed, ":"); ok {
		return c.offerTurns(ctx, spec+":", spec, turn)
	}
	return c.offerSessions(ctx, typed)
}

// completeShow completes a checkpoint, a session or a turn, and files after --.
func (c *cli) completeShow(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	offers, directive := c.completeDiff(cmd, args, typed)
	if directive&cobra.ShellCompDirectiveNoFileComp == 0 || len(args) > 0 {
		return offers, directive
	}
	sessions, _ := c.offerSessionOrTurn(cmd.Context(), typed)
	return append(offers, sessions...), directive
}

// completeMessageFlag completes the turns that an option of cairn session can name.
func (c *cli) completeMessageFlag(cmd *cobra.Command) {
	complete := func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return c.offerTurns(cmd.Context(), "", strings.Join(args[min(1, len(args)):min(2, len(args))], ""), typed)
	}
	if err := cmd.RegisterFlagCompletionFunc("message", complete); err != nil {
		panic("internal error: " + err.Error())
	}
}
