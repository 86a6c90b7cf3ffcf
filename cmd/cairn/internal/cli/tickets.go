package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/console"
	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Book holds the tickets of the data directory.
func (c *Program) Book() (ticket.Book, string, error) {
	dir, err := c.WorkDir()
	if err != nil && c.Global.DataDir == "" {
		return ticket.Book{}, "", err
	}
	data, err := c.DataDir(dir)
	return ticket.In(data), data, err
}

// Settled says how Settle found the background work of a session.
type Settled struct {
	Any   bool // there was something, which is done now, by whichever process
	Begun bool // a step has begun only now, by this process
}

// Settle waits for the work of a session's tickets, or does it. Errors of the work are in the tickets, and a later
// command that finds no step reports them.
func (c *Program) Settle(ctx context.Context, session string) (s Settled, err error) {
	book, root, err := c.Tickets()
	if err != nil {
		return s, nil // the command itself meets the same error and reports it
	}
	w := &Worker{Program: c, Book: book, Console: c.Console}
	if w.DataDir, err = c.DataDir(root); err != nil {
		return s, err
	}
	_, pending, err := book.Steps(root, session)
	if err != nil {
		return s, err
	}
	running := c.Running
	err = book.FinishSteps(ctx, root, session, "", w.Work)
	c.Running = running
	return Settled{len(pending) > 0, w.begun}, err
}

// Tickets returns the tickets of the data directory, and the root as they name it.
func (c *Program) Tickets() (book ticket.Book, root string, err error) {
	dir, err := c.WorkDir()
	if err != nil {
		return book, "", err
	}
	if root, err = c.RootDir(dir); err != nil {
		return book, "", err
	}
	if root, err = realpath.Of(root); err != nil {
		return book, "", err
	}
	data, err := c.DataDir(dir)
	return ticket.In(data), root, err
}

// Worker does the work of tickets in this process.
type Worker struct {
	Program *Program
	Book    ticket.Book
	DataDir string
	Console *console.Console
	Notes   *bytes.Buffer // the console's output; nil if that is stderr
	Started bool          // this process was started for the tickets when they were made

	Worked map[string]bool // tickets
	begun  bool            // with one of these a step has begun
}

// Work does the work of one ticket.
func (w *Worker) Work(id string) ticket.Work {
	return func(ctx context.Context, r *ticket.Request, died bool) (*ticket.Answer, error) {
		if w.Worked == nil {
			w.Worked = make(map[string]bool)
		}
		w.Worked[id] = true
		w.begun = w.begun || r.Step != nil
		if died {
			w.Console.Complain("warning: the process that was to do this has ended without it: the state is captured only now")
		}
		job, err := w.job(r)
		job.returned = w.Started && !died
		if err != nil {
			return nil, err
		}
		a, err := w.Book.Run(ctx, id, r, job, w.Work)
		if job.LastOptions != nil { // for the cleaning that may follow
			w.Program.LastOptions, w.Program.due, w.Program.Config, w.Program.configured = job.LastOptions, job.due, job.Config, job.configured
		}
		if err != nil {
			return nil, err
		}
		if w.Notes != nil {
			a.Notes = w.Notes.String()
		}
		return a, nil
	}
}

// job is the command line that does the work: in the root of the request, with its
// flags, and with the settings that are in force now.
func (w *Worker) job(r *ticket.Request) (ticketJob, error) {
	env := WithGit(w.Program.Env, git.Named{Dir: r.Flags.GitDir, WorkTree: r.Flags.GitWorkTree})
	job := New(strings.NewReader(""), io.Discard, io.Discard, env, string(r.Root))
	job.Console, job.Running, job.Force = w.Console, "track", r.Flags.Force
	if r.Step != nil || r.Message != nil || r.End != nil {
		job.Running = "session begin"
	}
	if r.Track != nil { // what a session began stays open for it
		job.sealed = w.Program.sealed
	}
	flags := job.Root.PersistentFlags()
	for name, value := range map[string]string{
		"root": string(r.Root), dataDirFlag: w.DataDir, "max-file-size": r.Flags.MaxFileSize, "min-free": r.Flags.MinFree,
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
	job.Global.NoServer = r.Flags.NoServer
	if w.Notes != nil {
		job.Console.Quiet = r.Flags.Quiet
	}
	return ticketJob{Program: job}, nil
}

// ticketJob is the command line of a ticket's work as a ticket.Doer.
type ticketJob struct {
	*Program
	returned bool // the tools of a step that ends have just returned
}

func (j ticketJob) Track(ctx context.Context, opt cairn.TrackOptions) (*cairn.TrackResult, error) {
	return j.TakeCheckpoint(ctx, opt)
}

func (j ticketJob) BeginStep(ctx context.Context, b session.StepBegin) (st *session.Step, err error) {
	err = j.WithRepo(func(repo *cairn.Repo) error {
		st, err = session.New(repo).BeginStep(ctx, b)
		return err
	})
	return st, err
}

func (j ticketJob) EndStep(ctx context.Context, e session.StepEnd) (st *session.Step, err error) {
	e.Returned = j.returned
	err = j.WithRepo(func(repo *cairn.Repo) error {
		st, err = session.New(repo).EndStep(ctx, e)
		return err
	})
	return st, err
}

// FinishTicket waits for the work of a ticket, or does it, and returns the result in JSON or the error of the work.
func (c *Program) FinishTicket(ctx context.Context, dataDir, id string) ([]byte, error) {
	book := ticket.In(dataDir)
	w := &Worker{Program: c, Book: book, DataDir: dataDir, Console: NewConsole(io.Discard)} // an agent may show what a hook says
	a, err := book.Finish(ctx, id, w.Work(id))
	if err != nil {
		return nil, err
	}
	return a.Result, a.Err()
}

// FinishTickets waits for the work of all tickets of a root, or does it.
func (c *Program) FinishTickets(ctx context.Context, opt cairn.Options) error {
	root, err := realpath.Of(opt.Root)
	if err != nil {
		return err
	}
	book := ticket.In(opt.DataDir)
	w := &Worker{Program: c, Book: book, DataDir: opt.DataDir, Console: NewConsole(io.Discard)}
	return book.FinishAll(ctx, root, w.Work)
}

// AddMessage begins the session of a message if it is new, and records the message.
func (j ticketJob) AddMessage(ctx context.Context, b session.SessionBegin, m session.MessageBegin) (out *session.Message, err error) {
	err = j.WithRepo(func(repo *cairn.Repo) error {
		out, err = session.New(repo).BeginWith(ctx, b, m)
		return err
	})
	return out, err
}
