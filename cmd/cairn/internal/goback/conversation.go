package goback

import (
	"context"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/conversation"
	"github.com/seed-fb9cbc17/cairn/internal/lastdone"
	"github.com/seed-fb9cbc17/cairn/session"
)

// ConversationFlag takes the agent's conversation back, too.
const ConversationFlag = "conversation"

// conversationBound ends an agent's program that does not answer.
const conversationBound = time.Minute

// TakeConversationBack describes the conversation of an agent after its files went back.
type Conversation struct {
	Back  bool   `json:"back"`          // it went back, too
	How   string `json:"how,omitempty"` // how a person takes it back
	asked bool
}

// TakeConversationBack takes the conversation back to before a message, if the caller asked for it and
// the agent can. Otherwise it prints the steps for a person. It returns nil where there is nothing to
// say.
func (c *Dialog) TakeConversationBack(
	ctx context.Context, all *session.Sessions, s *session.Session, message string, asked bool,
) (*Conversation, error) {
	at := conversation.Place{Agent: s.Agent, Session: s.ID, Message: message}
	half := &Conversation{How: at.Rest(), asked: asked}
	switch {
	case !asked && (half.How == "" || s.Parent != ""):
		return nil, nil
	case s.Parent != "":
		half.How = conversation.OfParent(s.Parent)
		return half, nil
	case !asked:
		return half, nil
	case half.How == "":
		half.How = at.Missing()
	}
	if !at.Moves() {
		return half, nil
	}
	history, err := all.History(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	if lastdone.AgentLives(history) {
		half.How += "; while Codex runs, it would not notice what cairn does to the conversation"
		return half, nil
	}
	ctx, cancel := context.WithTimeout(ctx, conversationBound)
	defer cancel()
	if err := at.Move(ctx, string(s.Root)); err != nil {
		half.How += " (" + err.Error() + ")"
		return half, nil
	}
	_, err = all.TakeNews(ctx, s.ID) // the model does not see the turn any more
	return &Conversation{Back: true}, err
}

// TellConversation describes the conversation. A missing half gives the exit status of a work done in
// part.
func (c *Dialog) TellConversation(half *Conversation) error {
	switch {
	case half == nil:
	case half.Back:
		c.Console.Remark("the conversation went back, too")
	default:
		c.Console.Remark("%s", half.How)
	}
	return half.Err()
}

// Err returns ErrPartly if the conversation was to go back and did not, else nil.
func (h *Conversation) Err() error {
	if h != nil && h.asked && !h.Back {
		return cli.ErrPartly
	}
	return nil
}

// ChangedFiles reports whether a way back has been carried out.
func ChangedFiles(res *cairn.Result) bool {
	return !res.DryRun && res.Directories()+GitChanges(res) > 0
}
