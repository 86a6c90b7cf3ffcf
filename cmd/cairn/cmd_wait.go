package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/console"
	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
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

func (c *cli) waitCommand() *cobra.Command {
	var timeout time.Duration
	var background, strict bool
	cmd := c.command(command{
		use: "wait TICKET", short: "the answer of what was begun with --async", manual: waitManual,
		args: argCount(1, -1, "the TICKET that --async has printed"), complete: c.firstOnly(c.completeTickets),
		run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if background {
				return c.workInBackground(ctx, args)
			}
			switch {
			case len(args) > 1:
				return c.usage("waits for one TICKET at a time")
			case timeout < 0:
				return c.usage("cannot wait %v", timeout)
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
	completeFlag(cmd, "timeout")
	return cmd
}

// book holds the tickets of the data directory.
func (c *cli) book() (ticket.Book, string, error) {
	dir, err := c.workDir()
	if err != nil && c.global.dataDir == "" {
		return ticket.Book{}, "", err
	}
	data, err := c.dataDir(dir)
	return ticket.In(data), data, err
}

// beginSteps does the work of tickets that begin steps of a session, and reports whether there was
// any. Their errors are in the tickets, and a later command that finds no step reports them.
func (c *cli) beginSteps(ctx context.Context, session string) (late bool, err error) {
	book, root, err := c.tickets()
	if err != nil {
		return false, nil // the command itself meets the same error and reports it
	}
	w := &worker{c: c, book: book, console: c.console}
	if w.dataDir, err = c.dataDir(root); err != nil {
		return false, err
	}
	running := c.running
	err = book.FinishSteps(ctx, root, session, "", w.work)
	c.running = running
	return w.steps > 0, err
}

// tickets returns the tickets of the data directory, and the root as they name it.
func (c *cli) tickets() (book ticket.Book, root string, err error) {
	dir, err := c.workDir()
	if err != nil {
		return book, "", err
	}
	if root, err = c.rootDir(dir); err != nil {
		return book, "", err
	}
	if root, err = realpath.Of(root); err != nil {
		return book, "", err
	}
	data, err := c.dataDir(dir)
	return ticket.In(data), root, err
}

func (c *cli) waitFor(ctx context.Context, id string, strict bool) error {
	book, data, err := c.book()
	if err != nil {
		return err
	}
	r, err := book.Request(id)
	if err != nil {
		return err
	}
	w := &worker{c: c, book: book, dataDir: data, console: c.console}
	a, err := book.Finish(ctx, id, w.work(id))
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
		return errNotYet
	}
	if err != nil {
		return err
	}
	if !w.worked[id] {
		c.console.Repeat(a.Notes)
	}
	return c.printTicket(r, a, strict)
}

// printTicket prints the answer of the command that made the ticket.
func (c *cli) printTicket(r *ticket.Request, a *ticket.Answer, strict bool) error {
	err := a.Err()
	switch {
	case errors.Is(err, cairn.ErrDisabled) && r.Track != nil:
		return c.printDisabled(err)
	case err != nil:
		return err
	case r.Step != nil:
		var st session.Step
		if err := json.Unmarshal(a.Result, &st); err != nil {
			return fmt.Errorf("read the answer: %w", err)
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

// workInBackground does the work of tickets, in their order. The process has no stderr
// that is read: its remarks go into the answers.
func (c *cli) workInBackground(ctx context.Context, ids []string) error {
	book, data, err := c.book()
	if err != nil {
		return err
	}
	for _, id := range ids {
		notes := new(bytes.Buffer)
		w := &worker{c: c, book: book, dataDir: data, console: newConsole(notes), notes: notes}
		err = errors.Join(err, book.Start(ctx, id, w.work(id)))
	}
	return errors.Join(err, book.Sweep(time.Now()))
}

// worker does the work of tickets in this process.
type worker struct {
	c       *cli
	book    ticket.Book
	dataDir string
	console *console.Console
	notes   *bytes.Buffer // the console's output; nil if that is stderr

	worked map[string]bool // tickets
	steps  int             // of these, tickets of steps
}

func (w *worker) work(id string) ticket.Work {
	return func(ctx context.Context, r *ticket.Request, died bool) (*ticket.Answer, error) {
		if w.worked == nil {
			w.worked = make(map[string]bool)
		}
		w.worked[id] = true
		if r.Step != nil {
			w.steps++
		}
		if died {
			w.console.Complain("warning: the process that was to do this has ended without it: the state is captured only now")
		}
		job, err := w.job(r)
		if err != nil {
			return nil, err
		}
		a, err := w.book.Run(ctx, id, r, job, w.work)
		if job.last != nil { // for the cleaning that may follow
			w.c.last, w.c.due, w.c.config, w.c.configured = job.last, job.due, job.config, job.configured
		}
		if err != nil {
			return nil, err
		}
		if w.notes != nil {
			a.Notes = w.notes.String()
		}
		return a, nil
	}
}

// job is the command line that does the work: in the root of the request, with its
// flags, and with the settings that are in force now.
func (w *worker) job(r *ticket.Request) (ticketJob, error) {
	env := withGit(w.c.env, git.Named{Dir: r.Flags.GitDir, WorkTree: r.Flags.GitWorkTree})
	job := newCLI(strings.NewReader(""), io.Discard, io.Discard, env, string(r.Root))
	job.console, job.running, job.force = w.console, "track", r.Flags.Force
	if r.Step != nil || r.Message != nil {
		job.running = "session begin"
	}
	flags := job.root.PersistentFlags()
	for name, value := range map[string]string{
		"root": string(r.Root), "data-dir": w.dataDir, "max-file-size": r.Flags.MaxFileSize, "min-free": r.Flags.MinFree,
	} {
		if value == "" {
			continue
		}
		if err := flags.Set(name, value); err != nil {
			return ticketJob{}, fmt.Errorf("ticket: %s: %w", name, err)
		}
	}
	if t := r.Flags.LockTimeout; t != nil {
		if err := flags.Set("lock-timeout", t.String()); err != nil {
			return ticketJob{}, fmt.Errorf("ticket: lock timeout: %w", err)
		}
	}
	job.global.noServer = r.Flags.NoServer
	if w.notes != nil {
		job.console.Quiet = r.Flags.Quiet
	}
	return ticketJob{job}, nil
}

// ticketJob is the command line of a ticket's work as a ticket.Doer.
type ticketJob struct{ *cli }

func (j ticketJob) Track(ctx context.Context, opt cairn.TrackOptions) (*cairn.TrackResult, error) {
	return j.track(ctx, opt)
}

func (j ticketJob) BeginStep(ctx context.Context, b session.StepBegin) (st *session.Step, err error) {
	err = j.withRepo(func(repo *cairn.Repo) error {
		st, err = session.New(repo).BeginStep(ctx, b)
		return err
	})
	return st, err
}

// completeTickets offers tickets, the newest first, with their age.
func (c *cli) completeTickets(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	c.console.Quiet = true
	book, _, err := c.book()
	if err != nil {
		return nil, directive
	}
	ids, err := book.List()
	if err != nil {
		return nil, directive
	}
	var offers []cobra.Completion
	for _, id := range slices.Backward(ids) {
		if len(offers) < maxOffered && strings.HasPrefix(id, typed) {
			offers = append(offers, cobra.CompletionWithDesc(id, c.about(ticket.Made(id), "")))
		}
	}
	return offers, directive
}
