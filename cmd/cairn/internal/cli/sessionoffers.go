package cli

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// HistoryForCompletion reads the messages of a session, none where that fails.
func (c *Program) HistoryForCompletion(ctx context.Context, spec string) []session.Message {
	repo, err := c.OpenForCompletion()
	if err != nil {
		return nil
	}
	defer repo.Close()
	all := session.New(repo)
	id, err := all.Find(ctx, cmp.Or(spec, session.Newest))
	if err != nil {
		return nil
	}
	history, err := all.History(ctx, id)
	if err != nil {
		return nil
	}
	return history
}

// SessionFlag names a session.
const SessionFlag = "session"

// CompleteSessionFlag completes the sessions that an option can name.
func (c *Program) CompleteSessionFlag(cmd *cobra.Command) {
	complete := func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return c.OfferSessions(cmd.Context(), typed)
	}
	if err := cmd.RegisterFlagCompletionFunc(SessionFlag, complete); err != nil {
		panic("internal error: " + err.Error())
	}
}

// OfferSessions offers the ids of the newest sessions, described by agent, age and title.
func (c *Program) OfferSessions(ctx context.Context, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp
	repo, err := c.OpenForCompletion()
	if err != nil {
		return nil, directive
	}
	defer repo.Close()
	list, err := session.New(repo).List(ctx)
	if err != nil {
		return nil, directive
	}
	var offers []cobra.Completion
	for _, s := range list[:min(len(list), MaxOffered)] {
		if strings.HasPrefix(s.ID, typed) && !strings.ContainsFunc(s.ID, wording.IsControl) {
			offers = append(offers, cobra.CompletionWithDesc(s.ID, c.AgeAndMessage(s.Updated, sessionAbout(s))))
		}
	}
	return offers, directive | cobra.ShellCompDirectiveKeepOrder
}

// AboutColumns is the width of a description of a completion.
const AboutColumns = 72

// sessionAbout describes a session by its agent, its model and its title.
func sessionAbout(s *session.Session) string {
	return strings.Join(wording.Wrap(1<<10, s.Agent, s.Model, wording.FirstLine(s.Title, AboutColumns)), "")
}

// OfferTurns offers the turns of a session by number, the newest first, described by age and prompt.
// lead stands before each number.
func (c *Program) OfferTurns(ctx context.Context, lead, spec, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	var offers []cobra.Completion
	for _, t := range slices.Backward(session.Turns(c.HistoryForCompletion(ctx, spec))) {
		number := strconv.Itoa(t.Number)
		if len(offers) < MaxOffered && strings.HasPrefix(number, typed) {
			offers = append(offers, cobra.CompletionWithDesc(lead+number, c.AgeAndMessage(t.Last(), wording.FirstLine(t.Prompt(), AboutColumns))))
		}
	}
	return offers, directive
}

// OfferSessionOrTurn offers sessions, and behind the colon the turns of one.
func (c *Program) OfferSessionOrTurn(ctx context.Context, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if spec, turn, ok := strings.Cut(typed, ":"); ok {
		return c.OfferTurns(ctx, spec+":", spec, turn)
	}
	return c.OfferSessions(ctx, typed)
}

// CompleteShow completes a checkpoint, a session or a turn, and files after --.
func (c *Program) CompleteShow(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if c.afterDashes() {
		return CompleteFiles(cmd, args, typed)
	}
	offers, directive := c.CompleteHashes(1)(cmd, args, typed)
	if len(args) > 0 {
		return offers, directive
	}
	sessions, _ := c.OfferSessionOrTurn(cmd.Context(), typed)
	return append(offers, sessions...), directive
}

// CompleteMessageFlag completes the turns that an option of cairn session can name.
func (c *Program) CompleteMessageFlag(cmd *cobra.Command) {
	complete := func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return c.OfferTurns(cmd.Context(), "", strings.Join(args[min(1, len(args)):min(2, len(args))], ""), typed)
	}
	if err := cmd.RegisterFlagCompletionFunc("message", complete); err != nil {
		panic("internal error: " + err.Error())
	}
}
