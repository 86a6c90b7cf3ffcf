package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TicketRequest is work for the background: one of Track, Step and Message is set.
type TicketRequest struct {
	Track   *TrackRequest  `json:"track,omitempty"`
	Step    *TicketStep    `json:"step,omitempty"`
	Message *TicketMessage `json:"message,omitempty"`
}

// TicketStep is a step that begins.
type TicketStep struct {
	SessionID string `json:"sessionID" minLength:"1" maxLength:"1024"`
	StepBegin
}

// TicketMessage is a message that is recorded together with the state of the root.
type TicketMessage struct {
	SessionID string            `json:"sessionID" minLength:"1" maxLength:"1024"`
	MessageID string            `json:"messageID" minLength:"1" maxLength:"1024"`
	Role      string            `json:"role,omitempty" maxLength:"200"`
	Prompt    string            `json:"prompt,omitempty" maxLength:"1048576"`
	Meta      map[string]string `json:"meta,omitempty"`

	SessionMeta map[string]string `json:"sessionMeta,omitempty" doc:"Of the session, which begins if it is new."`
}

// Ticket is the id of work in the background.
type Ticket struct {
	Ticket string `json:"ticket"`
	Rest   string `json:"rest,omitempty" doc:"Ticket of what onlyPaths leaves out."`
}

// TicketAnswer is the state of a ticket, with the result of work that is done.
type TicketAnswer struct {
	Ticket  string           `json:"ticket"`
	Done    bool             `json:"done"`
	Track   *protocol.Track  `json:"track,omitempty"`
	Step    *session.Step    `json:"step,omitempty"`
	Message *session.Message `json:"message,omitempty"`
}

func (s *Server) ticketOperations() {
	register(s, endpoint{
		id: "begin-ticket", method: http.MethodPost, path: "/tickets", tag: "checkpoints", status: http.StatusAccepted,
		summary: "Take a checkpoint, begin a step or record a message, in the background",
		description: "The state that is captured is one between this request and the moment when the ticket is done. Calls that change the session " +
			"of a step wait for that by themselves; who runs a tool that may write waits for the ticket first.",
	}, s.beginTicket)
	register(s, endpoint{
		id: "get-ticket", method: http.MethodGet, path: "/tickets/{ticket}", tag: "checkpoints", summary: "What became of a ticket",
		description: "202 while it is not done. Work that failed is answered with the problem that it failed with. A ticket is forgotten after a day.",
		unfinished:  TicketAnswer{},
	}, s.getTicket)
}

func (s *Server) beginTicket(ctx context.Context, in *struct {
	InProject
	Body TicketRequest
}) (*body[Ticket], error) {
	if t := in.Body; !ticket.One(t.Track != nil, t.Step != nil, t.Message != nil) {
		return nil, badField("body", "", "expected one of track, step and message")
	}
	p, err := s.projectOf(ctx, in.Directory)
	if err != nil {
		return nil, err
	}
	r, rest, err := in.Body.request(p.root)
	if err != nil {
		return nil, err
	}
	if opt, err := s.opt.Settings(p.root); err == nil {
		r.Reduce(opt.NoPrompts, opt.NoMask)
	}
	out, err := p.beginJob(r, rest)
	if err != nil {
		return nil, err
	}
	return &body[Ticket]{out}, nil
}

// beginJob writes the tickets of a request and of its rest, and begins to work on them.
func (p *project) beginJob(r *ticket.Request, rest bool) (Ticket, error) {
	book, err := p.book()
	if err != nil {
		return Ticket{}, err
	}
	if !p.server.reserveJob() {
		return Ticket{}, problem(http.StatusTooManyRequests, protocol.TooMany, "too many tickets at once")
	}
	out, err := makeTickets(book, r, rest)
	if err != nil {
		<-p.server.jobs
		return Ticket{}, err
	}
	p.runJob(book, out.Ticket, out.Rest)
	return out, nil
}

// makeTickets writes the tickets of a request and of its rest.
func makeTickets(book ticket.Book, r *ticket.Request, rest bool) (out Ticket, err error) {
	if rest {
		out.Ticket, out.Rest, err = book.MakeWithRest(r)
	} else {
		out.Ticket, err = book.Make(r)
	}
	return out, err
}

// request checks a request and returns it in the form of a ticket.
func (t *TicketRequest) request(root string) (r *ticket.Request, rest bool, err error) {
	r = &ticket.Request{Root: cairn.Path(root)}
	if b := t.Step; b != nil {
		paths, err := decodePaths("body.step.paths", b.Paths)
		if err != nil {
			return nil, false, err
		}
		begin := session.StepBegin{
			Session: b.SessionID, Message: b.MessageID, Role: b.Role, Step: b.StepID, Prompt: b.Prompt, Paths: paths, Meta: b.Meta, Owner: b.owner(),
		}
		r.Step = ticket.NewStep(begin)
		return r, false, begin.Check()
	}
	if m := t.Message; m != nil {
		r.Message = &ticket.Message{
			Session: m.SessionID, Message: m.MessageID, Role: m.Role, Prompt: m.Prompt, Meta: m.Meta,
			Begin: m.SessionMeta,
		}
		return r, false, nil
	}
	opt, err := t.Track.options("body.track.")
	if err != nil {
		return nil, false, err
	}
	r.Track = ticket.NewTrack(opt, time.Duration(t.Track.Deadline)*time.Millisecond)
	return r, t.Track.Rest, nil
}

func (s *Server) getTicket(ctx context.Context, in *struct {
	InProject
	Ticket string `path:"ticket" maxLength:"64"`
	Wait   int64  `query:"wait" minimum:"0" maximum:"60000" doc:"How long to wait for it to be done, in milliseconds."`
}) (*struct {
	Status int
	Body   TicketAnswer
}, error) {
	p, err := s.projectOf(ctx, in.Directory)
	if err != nil {
		return nil, err
	}
	book, err := p.book()
	if err != nil {
		return nil, err
	}
	r, err := book.Request(in.Ticket)
	if err == nil && string(r.Root) != p.root {
		err = errors.Join(cairn.ErrNotFound, problem(http.StatusNotFound, protocol.NotFound, "ticket %s is one of another project", in.Ticket))
	}
	if err != nil {
		return nil, err
	}
	a := book.Answer(in.Ticket)
	if a == nil {
		if a, err = p.await(ctx, book, in.Ticket, r, time.Duration(in.Wait)*time.Millisecond); err != nil {
			return nil, err
		}
	}
	out := &struct {
		Status int
		Body   TicketAnswer
	}{http.StatusOK, TicketAnswer{Ticket: in.Ticket, Done: true}}
	switch {
	case a == nil:
		out.Status, out.Body.Done = http.StatusAccepted, false
		return out, nil
	case a.Err() != nil:
		return nil, a.Err()
	case r.Step != nil || r.End != nil:
		err = json.Unmarshal(a.Result, &out.Body.Step)
	case r.Message != nil:
		err = json.Unmarshal(a.Result, &out.Body.Message)
	default:
		err = json.Unmarshal(a.Result, &out.Body.Track)
	}
	return out, err
}

// await waits for an answer and returns nil when the time is over. The server does work
// that no process is at, for instance after a restart of the server. It cannot do work
// with flags of a command line: without a process at it, the answer is a conflict.
func (p *project) await(ctx context.Context, book ticket.Book, id string, r *ticket.Request, wait time.Duration) (*ticket.Answer, error) {
	switch {
	case r.Flags == ticket.Flags{}:
		p.startJob(book, id)
	case !book.Claimed(id) && book.Answer(id) == nil:
		return nil, problem(http.StatusConflict, protocol.Conflict, "no process works on it: cairn wait %s does, with the options of its beginning", id)
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	stop := context.AfterFunc(p.server.life, cancel)
	defer stop()
	return book.Await(ctx, id), nil
}

// book holds the tickets of a project's data directory.
func (p *project) book() (ticket.Book, error) {
	opt, err := p.server.opt.Settings(p.root)
	return ticket.In(opt.DataDir), err
}

// reserveJob reserves a place for a job, if there is one.
func (s *Server) reserveJob() bool {
	select {
	case s.jobs <- struct{}{}:
		return true
	default:
		return false
	}
}

// startJob begins to work on a ticket if there is room. Otherwise the next process that
// asks for the answer does the work.
func (p *project) startJob(book ticket.Book, id string) {
	if p.server.reserveJob() {
		p.runJob(book, id)
	}
}

// runJob works on tickets, one after the other, until the server gives up. The next
// process that asks does the rest. The caller has reserved a place for the job.
func (p *project) runJob(book ticket.Book, ids ...string) {
	s := p.server
	s.working.Go(func() {
		defer func() { <-s.jobs }()
		for _, id := range ids {
			if id == "" {
				continue
			}
			if err := book.Start(s.life, id, worker{p, book}.work(id)); err != nil && s.life.Err() == nil {
				s.opt.Logger.Warn("a ticket was not worked on", "root", p.root, "ticket", id, "error", err)
			}
		}
		if err := book.Sweep(time.Now()); err != nil {
			s.opt.Logger.Warn("cannot sweep tickets", "error", err)
		}
	})
}

// trackRest begins to capture the whole root after a track of some paths, and returns the
// ticket. A failure does not change the answer about the paths.
func (p *project) trackRest(opt cairn.TrackOptions) string {
	book, err := p.book()
	id := ""
	if err == nil {
		id, err = book.Make(&ticket.Request{Root: cairn.Path(p.root), Track: ticket.NewTrack(opt, 0).Whole()})
	}
	if err != nil {
		p.server.opt.Logger.Warn("the rest is not captured", "root", p.root, "error", err)
		return ""
	}
	p.startJob(book, id)
	return id
}

// worker does the work of a book's tickets in a project. It is a ticket.Doer.
type worker struct {
	*project
	book ticket.Book
}

func (w worker) work(id string) ticket.Work {
	return func(ctx context.Context, r *ticket.Request, _ bool) (*ticket.Answer, error) {
		return w.book.Run(ctx, id, r, w, w.work)
	}
}

// opened opens the project until done is called, even if ctx ends before.
func (w worker) opened(ctx context.Context) (p *Project, done context.CancelFunc, err error) {
	ctx, done = context.WithCancel(context.WithoutCancel(ctx))
	if p, err = w.open(ctx, true); err != nil {
		done()
	}
	return p, done, err
}

func (w worker) Track(ctx context.Context, opt cairn.TrackOptions) (*cairn.TrackResult, error) {
	p, done, err := w.opened(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return p.Repo.Track(ctx, opt)
}

func (w worker) BeginStep(ctx context.Context, b session.StepBegin) (*session.Step, error) {
	p, done, err := w.opened(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return p.Sessions.beginStep(ctx, w.project, b)
}

func (w worker) AddMessage(ctx context.Context, b session.SessionBegin, m session.MessageBegin) (*session.Message, error) {
	p, done, err := w.opened(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return p.Sessions.addMessage(ctx, w.project, b, m)
}

func (w worker) EndStep(ctx context.Context, e session.StepEnd) (*session.Step, error) {
	p, done, err := w.opened(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return p.Sessions.endStep(ctx, w.project, e)
}

// gate waits for the tickets of a session's steps and messages.
func (p *project) gate(ctx context.Context, book ticket.Book, session string) error {
	return book.FinishSteps(ctx, p.root, session, "", worker{p, book}.work)
}
