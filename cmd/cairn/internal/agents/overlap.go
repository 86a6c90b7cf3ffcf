package agents

import (
	"context"

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
	return &hooks.Overlap{
		Begin: func(ctx context.Context, b session.SessionBegin, m session.MessageBegin) (string, error) {
			begun, err := c.BeginTicket(ctx, &ticket.Request{Message: ticket.NewMessage(b, m)}, false)
			return begun.Ticket, err
		},
		Wait: func(ctx context.Context, id string) error { return c.FinishTicket(ctx, opt.DataDir, id) },
	}
}
