package cli

import (
	"context"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/diffstat"
	"github.com/seed-fb9cbc17/cairn/internal/sessiontext"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// headline says who made a checkpoint and what for: of an agent's step the agent and the prompt, of
// the state before it the prompt, else the message, "" for none.
func headline(cp *cairn.Checkpoint, work *session.Work) string {
	message := cp.Message
	if message == NoMessage {
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

// AboutCheckpoint describes a checkpoint by its age and its headline.
func (c *Program) AboutCheckpoint(ctx context.Context, all *session.Sessions, cp *cairn.Checkpoint, known session.WorkCache) string {
	return c.AgeAndMessage(cp.When, CheckpointWords(ctx, all, cp, known))
}

// CheckpointWords is the headline of a checkpoint, with titles in the place of ids.
func CheckpointWords(ctx context.Context, all *session.Sessions, cp *cairn.Checkpoint, known session.WorkCache) string {
	work, err := all.WorkOf(ctx, cp.ID, known)
	if err != nil {
		work = nil // the checkpoint is there; only the words for it are missing
	}
	named := *cp
	named.Message = sessiontext.Message(ctx, all, cp.Message, work)
	return headline(&named, work)
}

// LogEntry is one checkpoint of the list.
type LogEntry struct {
	ID      string    `json:"id"`
	Hash    string    `json:"hash"`
	Time    time.Time `json:"time"`
	Author  string    `json:"author"`
	Message string    `json:"message"`
	Parent  string    `json:"parent,omitempty"`

	Work  *session.Work     `json:"work,omitempty"`
	Files *[]diffstat.File  `json:"files,omitempty"`
	Diffs *[]cairn.FileDiff `json:"diffs,omitempty"`

	Partial cairn.Extent `json:"scope,omitempty"`
	Passed  *bool        `json:"passed,omitempty"` // of its tests; nil = there is no result

	ThinnedBefore int `json:"thinnedBefore,omitempty"` // thinned ones between the parent and this one

	Secrets []cairn.Secret `json:"secrets,omitempty"`

	Fetched  *cairn.Machine `json:"fetched,omitempty"`  // whose it is, with --fetched
	Imported bool           `json:"imported,omitempty"` // it came in a bundle

	Error string `json:"error,omitempty"` // why it, or the one that it is compared with, cannot be read
}

// NoMessage is the message that the library gives to checkpoints without one.
const NoMessage = state.NoMessage

// AgeAndMessage describes a checkpoint by its age and its message.
func (c *Program) AgeAndMessage(when time.Time, message string) string {
	text := wording.Ago(c.Console.Now().Sub(when))
	if message != NoMessage && message != "" {
		text += ": " + wording.Printable(message)
	}
	return text
}
