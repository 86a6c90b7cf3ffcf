package httpapi

import (
	"context"
	"errors"

	"github.com/seed-fb9cbc17/cairn"
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

// Project opens a registered root by its id until ctx ends. The error wraps
// cairn.ErrNotFound if it is not registered or was never tracked.
func (s *Server) Project(ctx context.Context, id string) (*Project, error) {
	s.projects.mu.Lock()
	p := s.projects.byID(id)
	s.projects.mu.Unlock()
	if p == nil {
		return nil, errors.Join(cairn.ErrNotFound, unregistered("project "+shorten(id)))
	}
	return p.open(ctx, false)
}

// open opens the store of a project until ctx ends.
func (p *project) open(ctx context.Context, create bool) (*Project, error) {
	h, err := p.acquire(create)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { p.release(h) })
	return &Project{ID: p.id, Root: p.root, Repo: h.repo, Sessions: h.sessions}, nil
}

// in opens the project that a request is about, for as long as the request lasts.
// Only what brings a checkpoint into a store makes one where there is none.
func (s *Server) in(ctx context.Context, in InProject, create bool) (*Project, error) {
	p, err := s.projectOf(ctx, in.Directory)
	if err != nil {
		return nil, err
	}
	return p.open(ctx, create)
}

// errGoingBack: two clients wanted to go back at once.
var errGoingBack = errors.New("another restore, revert or undo of this project is under way")

// write calls f with a context that goes on when the client hangs up. The store is
// held open until then, since the request may end before.
func (h *handle) write(ctx context.Context, f func(context.Context) error) error {
	h.project.retain(h)
	defer h.project.release(h)
	ctx, done := h.project.server.writing(ctx)
	defer done()
	return f(ctx)
}

// goBack is write for what changes the user's files. A second one at the same time is
// turned away: it would wait, and then act on a state that its client has never seen.
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

// Repo is a cairn.Repo whose writing goes on when the client hangs up, and is told to
// those who listen.
type Repo struct {
	*cairn.Repo
	handle *handle
}

// Track is cairn.Repo.Track.
func (r *Repo) Track(ctx context.Context, opt cairn.TrackOptions) (t *cairn.Track, err error) {
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
func (r *Repo) Revert(ctx context.Context, patches []cairn.Patch, opt cairn.RevertOptions) (*cairn.Result, error) {
	return r.goBack(ctx, "revert", opt.DryRun, func(ctx context.Context) (*cairn.Result, error) {
		return r.Repo.Revert(ctx, patches, opt)
	})
}

// RevertTo is cairn.Repo.RevertTo.
func (r *Repo) RevertTo(ctx context.Context, spec string, opt cairn.RevertOptions) (*cairn.Result, error) {
	return r.goBack(ctx, "revert", opt.DryRun, func(ctx context.Context) (*cairn.Result, error) {
		return r.Repo.RevertTo(ctx, spec, opt)
	})
}

// RevertRange is cairn.Repo.RevertRange.
func (r *Repo) RevertRange(ctx context.Context, from, to string, opt cairn.RevertOptions) (*cairn.Result, error) {
	return r.goBack(ctx, "revert", opt.DryRun, func(ctx context.Context) (*cairn.Result, error) {
		return r.Repo.RevertRange(ctx, from, to, opt)
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

func (r *Repo) goBack(ctx context.Context, kind string, dryRun bool, f func(context.Context) (*cairn.Result, error)) (res *cairn.Result, err error) {
	err = r.handle.goBack(ctx, dryRun, func(ctx context.Context) error {
		res, err = f(ctx)
		return err
	})
	if err == nil && res.Operation != "" {
		r.handle.project.tellResult(kind, "", res)
	}
	return res, err
}

// Sessions are session.Sessions whose writing goes on when the client hangs up, and is
// told to those who listen.
type Sessions struct {
	*session.Sessions
	handle *handle
}

// write is handle.write for what changes a session: steps of it that are to begin in
// the background come first.
func (s *Sessions) write(ctx context.Context, id string, f func(context.Context) error) error {
	return s.handle.write(ctx, func(ctx context.Context) error {
		if err := s.gate(ctx, id); err != nil {
			return err
		}
		return f(ctx)
	})
}

func (s *Sessions) gate(ctx context.Context, id string) error {
	return s.handle.project.gate(ctx, s.handle.book, id)
}

// Begin is session.Sessions.Begin.
func (s *Sessions) Begin(ctx context.Context, b session.Begin) (out *session.Session, err error) {
	err = s.write(ctx, b.ID, func(ctx context.Context) error {
		out, err = s.Sessions.Begin(ctx, b)
		return err
	})
	if err == nil {
		s.handle.project.tell(Event{Type: EventSession, Session: b.ID, State: "begun"})
	}
	return out, err
}

// AddMessage is session.Sessions.AddMessage.
func (s *Sessions) AddMessage(ctx context.Context, m session.MessageBegin) (out *session.Message, err error) {
	err = s.write(ctx, m.Session, func(ctx context.Context) error {
		out, err = s.Sessions.AddMessage(ctx, m)
		return err
	})
	if err == nil {
		s.handle.project.tell(Event{Type: EventSession, Session: m.Session, Message: out.ID, State: "message"})
	}
	return out, err
}

// BeginStep is session.Sessions.BeginStep.
func (s *Sessions) BeginStep(ctx context.Context, b session.StepBegin) (out *session.Step, err error) {
	err = s.write(ctx, b.Session, func(ctx context.Context) error {
		out, err = s.beginStep(ctx, b)
		return err
	})
	return out, err
}

// beginStep is BeginStep for whoever has waited for the steps before.
func (s *Sessions) beginStep(ctx context.Context, b session.StepBegin) (*session.Step, error) {
	out, err := s.Sessions.BeginStep(ctx, b)
	if err == nil {
		s.handle.project.tellStep("begun", out)
	}
	return out, err
}

// Hint is session.Sessions.Hint.
func (s *Sessions) Hint(ctx context.Context, id, step string, paths []string) error {
	return s.write(ctx, id, func(ctx context.Context) error { return s.Sessions.Hint(ctx, id, step, paths) })
}

// EndStep is session.Sessions.EndStep.
func (s *Sessions) EndStep(ctx context.Context, e session.StepEnd) (out *session.Step, err error) {
	err = s.write(ctx, e.Session, func(ctx context.Context) error {
		out, err = s.Sessions.EndStep(ctx, e)
		return err
	})
	if err == nil {
		s.handle.project.tellStep("ended", out)
	}
	return out, err
}

// Delete is session.Sessions.Delete.
func (s *Sessions) Delete(ctx context.Context, id string) error {
	err := s.write(ctx, id, func(ctx context.Context) error { return s.Sessions.Delete(ctx, id) })
	if err == nil {
		s.handle.project.tell(Event{Type: EventSession, Session: id, State: "deleted"})
	}
	return err
}

// Fork is session.Sessions.Fork.
func (s *Sessions) Fork(ctx context.Context, id, message, newID string) (out *session.Session, err error) {
	err = s.write(ctx, id, func(ctx context.Context) error {
		out, err = s.Sessions.Fork(ctx, id, message, newID)
		return err
	})
	if err == nil {
		s.handle.project.tell(Event{Type: EventSession, Session: out.ID, State: "forked"})
	}
	return out, err
}

// Commit is session.Sessions.Commit.
func (s *Sessions) Commit(ctx context.Context, id string) (out *session.Session, err error) {
	err = s.write(ctx, id, func(ctx context.Context) error {
		out, err = s.Sessions.Commit(ctx, id)
		return err
	})
	if err == nil {
		s.handle.project.tell(Event{Type: EventRevert, Session: id, State: "committed"})
	}
	return out, err
}

// Revert is session.Sessions.Revert.
func (s *Sessions) Revert(ctx context.Context, id string, to session.Target, opt session.RevertOptions) (*session.Session, *cairn.Result, error) {
	return s.goBack(ctx, id, opt.DryRun, func(ctx context.Context) (*session.Session, *cairn.Result, error) {
		return s.Sessions.Revert(ctx, id, to, opt)
	})
}

// Unrevert is session.Sessions.Unrevert.
func (s *Sessions) Unrevert(ctx context.Context, id string, opt session.RevertOptions) (*session.Session, *cairn.Result, error) {
	return s.goBack(ctx, id, opt.DryRun, func(ctx context.Context) (*session.Session, *cairn.Result, error) {
		return s.Sessions.Unrevert(ctx, id, opt)
	})
}

// UndoStep is session.Sessions.UndoStep.
func (s *Sessions) UndoStep(ctx context.Context, id string, opt session.RevertOptions) (*session.Session, *cairn.Result, error) {
	return s.goBack(ctx, id, opt.DryRun, func(ctx context.Context) (*session.Session, *cairn.Result, error) {
		return s.Sessions.UndoStep(ctx, id, opt)
	})
}

// RedoStep is session.Sessions.RedoStep.
func (s *Sessions) RedoStep(ctx context.Context, id string, opt session.RevertOptions) (*session.Session, *cairn.Result, error) {
	return s.goBack(ctx, id, opt.DryRun, func(ctx context.Context) (*session.Session, *cairn.Result, error) {
		return s.Sessions.RedoStep(ctx, id, opt)
	})
}

func (s *Sessions) goBack(ctx context.Context, id string, dryRun bool, f func(context.Context) (*session.Session, *cairn.Result, error)) (out *session.Session, res *cairn.Result, err error) {
	err = s.handle.goBack(ctx, dryRun, func(ctx context.Context) error {
		if err := s.gate(ctx, id); err != nil {
			return err
		}
		out, res, err = f(ctx)
		return err
	})
	if err == nil && !dryRun {
		e := Event{Type: EventRevert, Session: id, State: "unreverted"}
		if out.Revert != nil {
			e.State, e.Message, e.Part = "reverted", out.Revert.Message, out.Revert.Part
		}
		s.handle.project.tell(e)
		if res != nil && res.Operation != "" {
			s.handle.project.tellResult("revert", id, res)
		}
	}
	return out, res, err
}
