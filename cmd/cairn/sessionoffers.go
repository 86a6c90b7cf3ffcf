package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

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

// sessionAbout describes a session by its agent and its title.
func sessionAbout(s *session.Session) string {
	title := wording.FirstLine(s.Title, aboutColumns)
	if s.Agent == "" || title == "" {
		return cmp.Or(title, s.Agent)
	}
	return s.Agent + ", " + title
}
