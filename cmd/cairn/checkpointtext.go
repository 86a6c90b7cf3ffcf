package main

import (
	"context"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/sessiontext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// headline says who made a checkpoint and what for: of an agent's step the agent and the prompt, of
// the state before it the prompt, else the message, "" for none.
func headline(cp *cairn.Checkpoint, work *session.Work) string {
	message := cp.Message
	if message == noMessage {
		message = ""
	}
	if work == nil {
		return message
	}
	agents := cp.Author == session.AuthorAgent
	who, what := wording.Heading(agents, cp.Author, message, work.Agent, work.Prompt)
	if agents && work.Agent != "" {
		return who + ", " + what
	}
	return what
}

// aboutCheckpoint describes a checkpoint by its age and its headline.
func (c *cli) aboutCheckpoint(ctx context.Context, all *session.Sessions, cp *cairn.Checkpoint, known session.WorkCache) string {
	return c.about(cp.When, wordsOf(ctx, all, cp, known))
}

// wordsOf is the headline of a checkpoint, with titles in the place of ids.
func wordsOf(ctx context.Context, all *session.Sessions, cp *cairn.Checkpoint, known session.WorkCache) string {
	work, err := all.WorkOf(ctx, cp.ID, known)
	if err != nil {
		work = nil // the checkpoint is there; only the words for it are missing
	}
	named := *cp
	named.Message = sessiontext.Message(ctx, all, cp.Message, work)
	return headline(&named, work)
}
