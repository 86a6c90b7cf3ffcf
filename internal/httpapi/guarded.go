package httpapi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/service"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Project is a registered root, opened for one request.
type Project struct {
	ID, Root string
	Repo     *Repo
	Sessions *Sessions
}

// Roots lists the registered roots by their ids.
func (s *Server) Roots() map[string]string {
	roots := make(map[string]string)
	for _, p := range s.projects.list() {
		roots[p.id] = p.root
	}
	return roots
}

// LastUse returns when a process last worked with the store of a root, and the zero time for a root
// without a store.
func (s *Server) LastUse(root string) time.Time {
	opt, err := s.opt.Settings(root)
	if err != nil {
		return time.Time{}
	}
	used, err := cairn.StoreUsed(opt.DataDir, root)
	if err != nil {
		s.opt.Logger.Debug("last use", "root", root, "error", err)
	}
	return used
}

// Project opens a registered root by its id until ctx ends. The error wraps
// cairn.ErrNotFound if it is not registered or was never tracked.
func (s *Server) Project(ctx context.Context, id string) (*Project, error) {
	p, err := s.projectByID(ctx, id)
	if err != nil {
		return nil, err
	}
	return p.open(ctx, false)
}

// projectByID finds a registered root. A remote is asked about an id that is not registered: the project may have been
// pushed since.
func (s *Server) projectByID(ctx context.Context, id string) (*project, error) {
	p := s.projects.lookUp(id)
	if p == nil && s.opt.Refresh != nil {
		if err := s.refresh(ctx, id); err != nil {
			return nil, err
		}
		p = s.projects.lookUp(id)
	}
	if p == nil {
		return nil, fmt.Errorf("%w: %w", cairn.ErrNotFound, unregistered("project "+shorten(id)))
	}
	return p, nil
}

// refresh is Options.Refresh, where there is one.
func (s *Server) refresh(ctx context.Context, id string) error {
	if s.opt.Refresh == nil {
		return nil
	}
	if err := s.opt.Refresh(ctx, id); err != nil {
		return Unreachable(err)
	}
	return nil
}

// open opens the store of a project until ctx ends.
func (p *project) open(ctx context.Context, create bool) (*Project, error) {
	if err := p.server.refresh(ctx, p.id); err != nil {
		return nil, err
	}
	h, err := p.acquire(create)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { p.release(h) })
	return &Project{ID: p.id, Root: p.root, Repo: h.repo, Sessions: h.sessions}, nil
}

// in opens the project of a request until the request ends. create makes a missing store;
// only operations that add checkpoints set it.
func (s *Server) in(ctx context.Context, in InProject, create bool) (*Project, error) {
	p, err := s.projectOf(ctx, in.Directory)
	if err != nil {
		return nil, err
	}
	return p.open(ctx, create)
}

// errGoingBack: another call of the project changes files.
var errGoingBack = errors.New("another restore, revert or undo of this project is under way")

// write calls f with a context that goes on when the client hangs up. The request may end
// before f does, so write holds the store open itself.
func (h *handle) write(ctx context.Context, f func(context.Context) error) error {
	h.project.retain(h)
	defer h.project.release(h)
	ctx, done := h.project.server.writing(ctx)
	defer done()
	return f(ctx)
}

// goBack is write for calls that change the user's files. It refuses a second call at the
// same time: that call would wait, and then act on a state that its client has never seen.
func (h *handle) goBack(ctx context.Context, dryRun bool, f func(context.Context) error) error {
	if dryRun {
		return f(ctx)
	}
	if !h.project.back.TryLock() {
		return errGoingBack
	}
	defer h.project.back.Unlock()
	return h.write(ctx, f)
}

// Repo is a cairn.Repo whose writing calls go on when the client hangs up, and send
// events.
type Repo struct {
	*cairn.Repo
	handle *handle
}

// Track is cairn.Repo.Track.
func (r *Repo) Track(ctx context.Context, opt cairn.TrackOptions) (t *cairn.TrackResult, err error) {
	err = r.handle.write(ctx, func(ctx context.Context) error {
		t, err = r.Repo.Track(ctx, opt)
		return err
	})
	if err == nil {
		r.handle.project.tell(Event{Type: EventTrack, Hash: t.Hash, Checkpoint: t.Checkpoint, Changed: t.Changed})
	}
	return t, err
}

// Restore is cairn.Repo.Restore.
func (r *Repo) Restore(ctx context.Context, spec string, opt cairn.RestoreOptions) (*cairn.Result, error) {
	return r.goBack(ctx, "restore", opt.DryRun, func(ctx context.Context) (*cairn.Result, error) {
		return r.Repo.Restore(ctx, spec, opt)
	})
}

// Revert is cairn.Repo.Revert.
func (r *Repo) Revert(ctx context.Context, in cairn.Range, opt cairn.RevertOptions) (*cairn.Result, error) {
	return r.goBack(ctx, "revert", opt.DryRun, func(ctx context.Context) (*cairn.Result, error) {
		return r.Repo.Revert(ctx, in, opt)
	})
}

// RevertPatches is cairn.Repo.RevertPatches.
func (r *Repo) RevertPatches(ctx context.Context, patches []cairn.Patch, opt cairn.RevertPatchesOptions) (*cairn.Result, error) {
	return r.goBack(ctx, "revert", opt.DryRun, func(ctx context.Context) (*cairn.Result, error) {
		return r.Repo.RevertPatches(ctx, patches, opt)
	})
}

// Undo is cairn.Repo.Undo.
func (r *Repo) Undo(ctx context.Context, opt cairn.RevertOptions) (*cairn.Result, error) {
	return r.goBack(ctx, "undo", opt.DryRun, func(ctx context.Context) (*cairn.Result, error) {
		return r.Repo.Undo(ctx, opt)
	})
}

// Redo is cairn.Repo.Redo.
func (r *Repo) Redo(ctx context.Context, opt cairn.RevertOptions) (*cairn.Result, error) {
	return r.goBack(ctx, "redo", opt.DryRun, func(ctx context.Context) (*cairn.Result, error) {
		return r.Repo.Redo(ctx, opt)
	})
}

func (r *Repo) goBack(
	ctx context.Context, kind string, dryRun bool, f func(context.Context) (*cairn.Result, error),
) (res *cairn.Result, err error) {
	err = r.handle.goBack(ctx, dryRun, func(ctx context.Context) error {
		res, err = f(ctx)
		return err
	})
	if err == nil {
		r.handle.project.tellResult(kind, "", res)
	}
	return res, err
}

// Sessions are the sessions of a project. Calls that change them go on when the client
// hangs up, and send events.
type Sessions struct {
	service.Sessions
	stored
}

// stored are the sessions in the store. They lie one level deeper in Sessions than the
// Service, which therefore hides the methods of the same names.
type stored struct{ *session.Sessions }

func newSessions(h *handle, all *session.Sessions) *Sessions {
	return &Sessions{service.Through(h.around(all)), stored{all}}
}

// around returns the hook for calls that change a session: it waits for the tickets of
// the session's steps, makes the call and sends an event.
func (h *handle) around(all *session.Sessions) service.Hook {
	return func(ctx context.Context, r service.Request, next service.Next) (out any, err error) {
		if r.Kind == service.RequestRead {
			return next(ctx, all)
		}
		change := func(ctx context.Context) error {
			if err := h.project.gate(ctx, h.book, r.Session); err != nil {
				return err
			}
			out, err = next(ctx, all)
			return err
		}
		if r.ChangesFiles() {
			err = h.goBack(ctx, r.DryRun, change)
		} else {
			err = h.write(ctx, change)
		}
		if err == nil {
			h.project.tellChange(r, out)
		}
		return out, err
	}
}

// beginStep is BeginStep for a caller that has waited for the older steps.
func (s *Sessions) beginStep(ctx context.Context, p *project, b session.StepBegin) (*session.Step, error) {
	out, err := s.stored.BeginStep(ctx, b)
	if err == nil {
		p.tellStep("begun", out)
	}
	return out, err
}

// endStep is EndStep for a caller that has waited for the older tickets of the session.
func (s *Sessions) endStep(ctx context.Context, p *project, e session.StepEnd) (*session.Step, error) {
	out, err := s.stored.EndStep(ctx, e)
	if err == nil {
		p.tellChange(service.Request{Kind: service.RequestEndStep, Session: e.Session}, out)
	}
	return out, err
}

// addMessage is AddMessage for a caller that has waited for the older tickets of the session. A
// session that is new begins with it.
func (s *Sessions) addMessage(ctx context.Context, p *project, b session.SessionBegin, m session.MessageBegin) (*session.Message, error) {
	out, err := s.stored.BeginWith(ctx, b, m)
	if err == nil {
		p.tellChange(service.Request{Kind: service.RequestMessage, Session: m.Session}, out)
	}
	return out, err
}

// tellChange sends the event of a call that has changed a session.
func (p *project) tellChange(r service.Request, out any) {
	switch r.Kind {
	case service.RequestBegin:
		p.tell(Event{Type: EventSession, Session: r.Session, State: "begun"})
	case service.RequestMessage:
		p.tell(Event{Type: EventSession, Session: r.Session, Message: out.(*session.Message).ID, State: "message"})
	case service.RequestBeginStep:
		p.tellStep("begun", out.(*session.Step))
	case service.RequestEndStep:
		p.tellStep("ended", out.(*session.Step))
	case service.RequestDelete:
		p.tell(Event{Type: EventSession, Session: r.Session, State: "deleted"})
	case service.RequestFork:
		p.tell(Event{Type: EventSession, Session: out.(*session.Session).ID, State: "forked"})
	case service.RequestCommit:
		p.tell(Event{Type: EventRevert, Session: r.Session, State: "committed"})
	case service.RequestHunks:
		p.tellResult("revert", r.Session, out.(*cairn.Result))
	case service.RequestMove:
		if !r.DryRun {
			p.tellMove(r.Session, out.(service.Move))
		}
	}
}

// tellMove sends the events of a session's boundary that has moved and of the files that
// changed.
func (p *project) tellMove(id string, m service.Move) {
	e := Event{Type: EventRevert, Session: id, State: "unreverted"}
	if r := m.Session.Revert; r != nil {
		e.State, e.Message, e.Part = "reverted", r.Message, r.Part
	}
	p.tell(e)
	if m.Result != nil {
		p.tellResult("revert", id, m.Result)
	}
}
