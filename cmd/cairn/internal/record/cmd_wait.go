package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
	"github.com/seed-fb9cbc17/cairn/session"
)

const waitManual = `cairn wait waits for what was begun with --async, and gives its answer.

Usage:
    cairn wait [--timeout DURATION] [--strict] TICKET

The answer, the text on stderr and the exit status are those that cairn track,
or cairn session step begin, would have had without --async. They can be had
more than once.

A checkpoint that is taken in the background holds a state between its --async
and the end of this command. To have the state before a change, wait here first
and change files then.

Nothing is lost when the process in the background dies: this command notices,
does the work itself and says so. It also does the work if it comes first. An
error of the work, such as a full disk, is printed here. If this command is
interrupted, or --timeout is over, the work goes on, and another cairn wait gets
its answer.

A ticket belongs to the data directory in which it was made. It is forgotten
after a day; the checkpoint is not. The exit status is 4 if there is no such
ticket.

Options:
    --timeout DURATION  fail if there is no answer by then, as in 5s; with 0s,
                        if there is none yet
    --strict            as in cairn track
    --background        do the work of one or more tickets, unless another
                        process does it already, and say nothing

With --json the answer is in JSON, however it was asked for.

Examples:
    before=$(cairn track --async); prepare; cairn wait "$before" && ./agent
`

// errNotYet ends a wait whose time is over.
var errNotYet = errors.New("there is no answer yet; the work goes on, and can be waited for again")

func (c *commands) waitCommand() *cobra.Command {
	var timeout time.Duration
	var background, strict bool
	cmd := c.Command(cli.Command{
		Use: "wait TICKET", Short: "the answer of what was begun with --async", Manual: waitManual,
		Args: cli.ArgCount(1, -1, "the TICKET that --async has printed"), Complete: c.FirstOnly(c.completeTickets),
		Run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if background {
				return c.workInBackground(ctx, args)
			}
			switch {
			case len(args) > 1:
				return c.Usage("waits for one TICKET at a time")
			case timeout < 0:
				return c.Usage("cannot wait %v", timeout)
			case cmd.Flags().Changed("timeout"):
				limited, cancel := context.WithTimeout(ctx, max(timeout, 1))
				defer cancel()
				return c.waitFor(limited, args[0], strict)
			}
			return c.waitFor(ctx, args[0], strict)
		},
	})
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "how long to wait")
	cmd.Flags().BoolVar(&background, "background", false, "only do the work")
	registerStrict(cmd, &strict)
	cli.CompleteFlag(cmd, "timeout")
	return cmd
}

func (c *commands) waitFor(ctx context.Context, id string, strict bool) error {
	book, data, err := c.Book()
	if err != nil {
		return err
	}
	r, err := book.Request(id)
	if err != nil {
		return err
	}
	w := &cli.Worker{Program: c.Program, Book: book, DataDir: data, Console: c.Console}
	a, err := book.Finish(ctx, id, w.Work(id))
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
		return errNotYet
	}
	if err != nil {
		return err
	}
	if !w.Worked[id] {
		c.Console.Repeat(a.Notes)
	}
	return c.printTicket(r, a, strict)
}

// printTicket prints the answer of the command that made the ticket.
func (c *commands) printTicket(r *ticket.Request, a *ticket.Answer, strict bool) error {
	err := a.Err()
	switch {
	case errors.Is(err, cairn.ErrDisabled) && r.Track != nil:
		return c.printDisabled(err)
	case err != nil:
		return err
	case r.Step != nil || r.End != nil:
		var st session.Step
		if err := json.Unmarshal(a.Result, &st); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		if r.End != nil {
			return c.printStep(&st, st.After)
		}
		return c.printStep(&st, st.Before)
	case r.Message != nil:
		return c.printMessage(a)
	}
	var t protocol.Track
	if err := json.Unmarshal(a.Result, &t); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return c.printTrack(&t.TrackResult, t.Rest, strict)
}

// workInBackground does the work of tickets, in their order. Where another process is at it, and dies, this one
// does it: the end of a step is not to wait for the next event of its session. The process has no stderr
// that is read: its remarks go into the answers.
func (c *commands) workInBackground(ctx context.Context, ids []string) error {
	book, data, err := c.Book()
	if err != nil {
		return err
	}
	for _, id := range ids {
		notes := new(bytes.Buffer)
		w := &cli.Worker{Program: c.Program, Book: book, DataDir: data, Console: cli.NewConsole(notes), Notes: notes, Started: true}
		_, failed := book.Finish(ctx, id, w.Work(id))
		err = errors.Join(err, failed)
	}
	return errors.Join(err, book.Sweep(time.Now()))
}

// completeTickets offers tickets, the newest first, with their age.
func (c *commands) completeTickets(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	c.Console.Quiet = true
	book, _, err := c.Book()
	if err != nil {
		return nil, directive
	}
	ids, err := book.List()
	if err != nil {
		return nil, directive
	}
	var offers []cobra.Completion
	for _, id := range slices.Backward(ids) {
		if len(offers) < cli.MaxOffered && strings.HasPrefix(id, typed) {
			offers = append(offers, cobra.CompletionWithDesc(id, c.AgeAndMessage(ticket.Made(id), "")))
		}
	}
	return offers, directive
}

// printMessage prints the answer of a ticket that recorded a message, which has a form in JSON only.
func (c *commands) printMessage(a *ticket.Answer) error {
	var m session.Message
	if err := json.Unmarshal(a.Result, &m); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if !c.Global.JSON {
		return nil
	}
	return c.WriteJSON(m)
}
