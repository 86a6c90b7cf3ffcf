package agents

import (
	"context"
	"encoding/json"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/hooks"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
	"github.com/seed-fb9cbc17/cairn/session"
)

// overlap lets the capture at a prompt run while the model thinks, nil where nothing may be
// started in the background.
func (c *commands) overlap(opt cairn.Options) *hooks.Overlap {
	if !c.MayBegin() || opt.Disabled != "" {
		return nil
	}
	o := &hooks.Overlap{
		Begin: func(ctx context.Context, b session.SessionBegin, m session.MessageBegin) (string, error) {
			begun, err := c.BeginTicket(ctx, &ticket.Request{Message: ticket.NewMessage(b, m)}, false)
			return begun.Ticket, err
		},
		Wait: func(ctx context.Context, id string) error {
			_, err := c.FinishTicket(ctx, opt.DataDir, id)
			return err
		},
		WaitEnd: func(ctx context.Context, id string) (*session.Step, error) {
			result, err := c.FinishTicket(ctx, opt.DataDir, id)
			if err != nil {
				return nil, err
			}
			st := new(session.Step)
			return st, json.Unmarshal(result, st)
		},
	}
	o.End = c.endLater(opt)
	return o
}

// endLater begins to end a step in the background, nil where a server is another process: that ends it at once.
func (c *commands) endLater(opt cairn.Options) func(session.StepEnd) (string, error) {
	switch {
	case c.NearTicket != nil:
		return func(e session.StepEnd) (string, error) {
			return c.NearTicket(opt, &ticket.Request{End: ticket.NewEnd(e)})
		}
	case c.Server(opt) == nil:
		return func(e session.StepEnd) (string, error) {
			begun, err := c.BeginHere(opt, &ticket.Request{End: ticket.NewEnd(e)}, false)
			return begun.Ticket, err
		}
	}
	return nil
}
