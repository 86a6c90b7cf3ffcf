package lastdone

import (
	"context"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Redo lists the candidates of a redo, in the manner of Undo: the changes that the newest undo took back.
func (f *Finder) Redo(ctx context.Context, want Want) ([]Choice, error) {
	return f.find(ctx, "redo", want, f.turnsBack)
}

// turnsBack lists the turn of each session in question that comes back first.
func (f *Finder) turnsBack(ctx context.Context, id string) ([]Choice, error) {
	list, unread, err := f.Sessions.ListAll(ctx)
	if err != nil {
		return nil, err
	}
	var r ranking
	for i, s := range list {
		named := id != "" && s.ID == id
		if !named && (id != "" || s.Parent != "" || s.Fetched != nil) || s.Revert == nil && (named || i >= maxLooked) {
			continue
		}
		history, err := f.Sessions.History(ctx, s.ID)
		if session.Unreadable(err) && !named {
			unread = append(unread, session.UnreadOf(s, err))
			continue
		}
		if err != nil {
			return nil, err
		}
		owner := newestOwner(history)
		r.see(f.distance(owner))
		if s.Revert == nil {
			continue
		}
		c, err := f.reverted(ctx, s, history)
		if err != nil {
			return nil, err
		}
		if c.Turn != nil { // it is nil where all reverted turns have been cleaned away
			r.add(c, f.distance(owner), s.Open != "" || alive(owner))
		}
	}
	if id != "" {
		return r.all, nil
	}
	return r.unlessUnread(unread)
}

// newestOwner is the owner of the newest step of a session.
func newestOwner(history []session.Message) *session.Owner {
	for _, m := range slices.Backward(history) {
		if n := len(m.Steps); n > 0 {
			return m.Steps[n-1].Owner
		}
	}
	return nil
}

// reverted is the turn of a session that a redo brings back. It is dated by the newest event of the
// session, which is its way back.
func (f *Finder) reverted(ctx context.Context, s *session.Session, history []session.Message) (*Choice, error) {
	c := &Choice{Session: s, forward: true, when: s.Updated}
	for _, t := range session.Turns(history) {
		if !t.Reverted() && (s.Revert.Part == "" || t.ID() != s.Revert.Message) {
			continue
		}
		if c.Turn == nil {
			c.Turn = &t
		}
		files, err := f.changed(ctx, &t)
		if err != nil {
			return c, err
		}
		beyond := &Choice{Turn: &t}
		moved, err := f.movedBeyond(ctx, beyond)
		if err != nil || moved || len(files) > 0 {
			c.Turn, c.Files, c.Moved, c.Outside = &t, files, beyond.Moved, beyond.Outside
			return c, err
		}
	}
	return c, nil
}

// changed lists what a turn changed, sub-agents included.
func (f *Finder) changed(ctx context.Context, t *session.Turn) ([]string, error) {
	c := &Choice{}
	err := f.extent(ctx, c, t.Messages)
	return c.Files, err
}

// bringBack moves the boundary of a session to the next turn after another that changed files.
func (f *Finder) bringBack(ctx context.Context, c *Choice, opt session.MoveOptions) (*cairn.Result, error) {
	history, err := f.Sessions.History(ctx, c.Session.ID)
	if err != nil {
		return nil, err
	}
	turns := session.Turns(history)
	at := slices.IndexFunc(turns, func(t session.Turn) bool { return t.ID() == c.Turn.ID() })
	for i := range turns[at+1:] {
		next := &turns[at+1+i]
		files, err := f.changed(ctx, next)
		if err != nil {
			return nil, err
		}
		moved, err := f.movedBeyond(ctx, &Choice{Turn: next})
		if err != nil {
			return nil, err
		}
		if moved || len(files) > 0 {
			s, res, err := f.ways().RevertSession(ctx, c.Session.ID, session.Target{Message: next.ID()}, opt)
			c.Held = err == nil && (s.Revert == nil || s.Revert.Message != next.ID())
			return res, err
		}
	}
	s, res, err := f.ways().UnrevertSession(ctx, c.Session.ID, opt)
	c.Held = err == nil && s.Revert != nil
	return res, err
}

// moved returns the session that an operation moved, "" for none.
func (f *Finder) moved(ctx context.Context, op *cairn.Operation) (string, error) {
	e, err := access.Lines(f.Repo).MovedBy(op)
	if err != nil || e == nil {
		return "", err
	}
	w, err := f.Sessions.WorkOf(ctx, op.After, make(session.WorkCache))
	if err != nil || w == nil {
		return "", err
	}
	return w.Session, nil
}
