package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/hooks"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
	"github.com/seed-fb9cbc17/cairn/session"
)

// overlap lets the capture at a prompt run while the model thinks, nil where nothing may be
// started in the background.
func (c *cli) overlap(opt cairn.Options) *hooks.Overlap {
	if !c.background() || opt.Disabled != "" {
		return nil
	}
	return &hooks.Overlap{
		Begin: func(ctx context.Context, b session.SessionBegin, m session.MessageBegin) (string, error) {
			begun, err := c.later(ctx, &ticket.Request{Message: ticket.NewMessage(b, m)}, false)
			return begun.Ticket, err
		},
		Wait: func(ctx context.Context, id string) error { return c.finishTicket(ctx, opt.DataDir, id) },
	}
}

// finishTicket waits for the work of a ticket, or does it, and returns the error of the work.
func (c *cli) finishTicket(ctx context.Context, dataDir, id string) error {
	book := ticket.In(dataDir)
	w := &worker{c: c, book: book, dataDir: dataDir, console: newConsole(io.Discard)} // an agent may show what a hook says
	a, err := book.Finish(ctx, id, w.work(id))
	if err != nil {
		return err
	}
	return a.Err()
}

// AddMessage begins the session of a message if it is new, and records the message.
func (j ticketJob) AddMessage(ctx context.Context, b session.SessionBegin, m session.MessageBegin) (out *session.Message, err error) {
	err = j.withRepo(func(repo *cairn.Repo) error {
		all := session.New(repo)
		if _, err := all.Begin(ctx, b); err != nil {
			return err
		}
		out, err = all.AddMessage(ctx, m)
		return err
	})
	return out, err
}

// printMessage prints the answer of a ticket that recorded a message, which has a form in JSON only.
func (c *cli) printMessage(a *ticket.Answer) error {
	var m session.Message
	if err := json.Unmarshal(a.Result, &m); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if !c.global.json {
		return nil
	}
	return c.writeJSON(m)
}
