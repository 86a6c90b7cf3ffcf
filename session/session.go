package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// AuthorAgent is the author of the checkpoints that hold what a step changed.
const AuthorAgent = "agent"

// Begin records the beginning of a session. For an existing session it only adds missing values:
// title, parent and new keys of Meta.
func (s *Sessions) Begin(ctx context.Context, b SessionBegin) (*Session, error) {
	missing, err := s.record(ctx, &b)
	if err != nil {
		return nil, err
	}
	return s.with(ctx, b.ID, missing)
}

// BeginWith records a message and, if its session is new, the session. Of the session it takes ID and Meta.
func (s *Sessions) BeginWith(ctx context.Context, b SessionBegin, m MessageBegin) (*Message, error) {
	if _, err := s.record(ctx, &b); err != nil {
		return nil, err
	}
	return s.AddMessage(ctx, m)
}

// record records the beginning of a session. It returns the roots in which that cannot be done.
func (s *Sessions) record(ctx context.Context, begun *SessionBegin) ([]Missing, error) {
	b := *begun
	if err := checkID("id of the session", b.ID); err != nil {
		return nil, err
	}
	if err := checkIDs("id of the parent", b.Parent); err != nil {
		return nil, err
	}
	further, err := s.furtherRoots(b.Further)
	if err != nil {
		return nil, err
	}
	further = append(further, s.furtherOf(ctx, b.Parent)...)
	b.Further = nil
	err = s.update(ctx, b.ID, func(u *operation.LineUpdate) error {
		h, isNew, err := s.loadOrNew(ctx, b.ID)
		if err != nil {
			return err
		}
		if !isNew && !h.lacks(&b) {
			return nil
		}
		if err := s.begin(ctx, h, &b); err != nil {
			return err
		}
		return s.append(ctx, u, h, operation.LineAppend{Message: "begin session " + name(b.ID), Capture: isNew})
	})
	if err != nil {
		return nil, err
	}
	return s.link(ctx, &b, further)
}

// checkNew refuses an id under which a session could not be found.
func checkNew(id string) error {
	if _, ok := newestBut(id); ok {
		return fmt.Errorf("%w: %s names a session by its place among those that were changed last", ErrID, id)
	}
	return nil
}

// lacks reports whether b has values that the session lacks.
func (h *history) lacks(b *SessionBegin) bool {
	for key := range b.Meta {
		if _, ok := h.Meta[key]; !ok {
			return true
		}
	}
	return h.Title == "" && b.Title != "" || h.Parent == "" && b.Parent != ""
}

// begin fills a session's digest in.
func (s *Sessions) begin(ctx context.Context, h *history, b *SessionBegin) error {
	if err := checkNew(h.ID); err != nil {
		return err
	}
	if h.Created == 0 {
		h.Created = s.now(h)
	}
	if h.Title == "" {
		h.Title = s.said(b.Title)
	}
	meta := maps.Clone(b.Meta)
	if meta == nil {
		meta = make(map[string]string)
	}
	maps.Copy(meta, h.Meta)
	if err := checkMeta(meta); err != nil {
		return err
	}
	h.Meta = meta
	if h.Parent == "" && b.Parent != "" {
		if err := s.adopt(ctx, h, b.Parent); err != nil {
			return err
		}
	}
	s.add(h, event{Kind: kindBegin})
	return nil
}

// adopt records the place in its parent where a session begins.
func (s *Sessions) adopt(ctx context.Context, h *history, parent string) error {
	for at, n := parent, 0; at != ""; n++ {
		if at == h.ID || n > maxDepth {
			return fmt.Errorf("%w: session %q would be its own parent", ErrID, h.ID)
		}
		p, isNew, err := s.loadOrNew(ctx, at)
		if err != nil {
			return err
		}
		if at == parent && !isNew {
			if open := p.openStep(); open != nil {
				h.ParentMessage, h.ParentStep = open.Message, open.ID
			} else if n := len(p.messages); n > 0 {
				h.ParentMessage = p.messages[n-1].ID
			}
		}
		at = p.Parent
	}
	h.Parent = parent
	return nil
}

// maxDepth is the largest depth of nested sub-agents.
const maxDepth = 64

// append writes the pending events to a session's line.
func (s *Sessions) append(ctx context.Context, u *operation.LineUpdate, h *history, a operation.LineAppend) error {
	if err := h.owned(); err != nil {
		return err
	}
	for i := range h.pending {
		if id := h.pending[i].Outside; id != "" {
			a.Outside = append(a.Outside, id)
		}
	}
	data, err := s.encode(h)
	if err != nil {
		return err
	}
	a.Record = data
	e, err := u.Append(ctx, h.ID, a)
	if err != nil {
		return fmt.Errorf("session %q: %w", h.ID, err)
	}
	h.tip = e.ID
	leaving := h.leaving
	h.leaving = nil
	return s.dropChildren(ctx, u, h.ID, leaving)
}

// name returns an id in the form that messages use.
func name(id string) string {
	if len(id) > 80 || strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Sprintf("%.80q", id)
	}
	return id
}

// goOn loads a session that is about to continue, which makes a revert final. The events of that
// are pending and must be appended with the rest.
func (s *Sessions) goOn(ctx context.Context, id string) (*history, error) {
	h, isNew, err := s.loadOrNew(ctx, id)
	if err != nil {
		return nil, err
	}
	if isNew {
		return h, s.begin(ctx, h, &SessionBegin{ID: id})
	}
	if err := s.endDead(ctx, h); err != nil {
		return nil, err
	}
	return h, s.commitRevert(ctx, h)
}

// commitRevert makes a revert final: the reverted steps leave the session, and with the next append those of its
// children. Until then the children keep them: a revert that is not final can be taken back.
func (s *Sessions) commitRevert(ctx context.Context, h *history) error {
	if len(h.chain) == 0 {
		return nil
	}
	active, err := s.active(ctx, h)
	if err != nil {
		return err
	}
	final := event{Kind: kindCommit}
	if len(active) > 0 {
		b := active[len(active)-1]
		final.Message, final.Part, final.Start, final.Undone = b.Message, b.Part, b.Start, b.Undone
		h.leaving = b.Undone
	}
	s.add(h, final)
	return nil
}

// dropChildren takes the undone steps of children out of their sessions.
func (s *Sessions) dropChildren(ctx context.Context, u *operation.LineUpdate, id string, undone []stepRef) error {
	byChild := make(map[string][]stepRef)
	for _, ref := range undone {
		if ref.Session != id {
			byChild[ref.Session] = append(byChild[ref.Session], ref)
		}
	}
	for child, refs := range byChild {
		h, isNew, err := s.loadOrNew(ctx, child)
		if err != nil {
			return err
		}
		if isNew { // deleted meanwhile
			continue
		}
		s.add(h, event{Kind: kindDrop, Undone: refs})
		if err := s.append(ctx, u, h, operation.LineAppend{Message: "reverted with session " + name(id)}); err != nil {
			return err
		}
	}
	return nil
}

// active returns the chain of reverts in effect. Repo.Undo and Redo may have taken some back, or
// brought them back, independently of the session.
func (s *Sessions) active(ctx context.Context, h *history) ([]*boundary, error) {
	if len(h.chain) == 0 {
		return nil, nil
	}
	ids := make([]string, len(h.chain))
	for i, b := range h.chain {
		ids[i] = b.line.ID
	}
	undone, err := s.lines.Undone(ctx, ids...)
	if err != nil {
		return nil, err
	}
	return h.active(undone), nil
}

// Commit makes a revert final: the reverted steps leave the session. BeginStep and AddMessage do
// so, too. Repo.Undo can still bring back the files that the revert changed.
func (s *Sessions) Commit(ctx context.Context, id string) (*Session, error) {
	err := s.update(ctx, id, func(u *operation.LineUpdate) error {
		h, err := s.load(ctx, id)
		if err != nil || len(h.chain) == 0 {
			return err
		}
		if err := s.commitRevert(ctx, h); err != nil {
			return err
		}
		return s.append(ctx, u, h, operation.LineAppend{Message: "go on after a revert"})
	})
	if err != nil {
		return nil, err
	}
	return s.with(ctx, id, s.inOthers(ctx, id, func(o *Sessions) error {
		_, err := o.Commit(ctx, id)
		return err
	}))
}

// whole reports whether the store has all checkpoints of a session.
func (s *Sessions) whole(ctx context.Context, id string) bool {
	tip, err := s.lines.Tip(id)
	if err != nil {
		return false
	}
	for _, err := range s.lines.Back(ctx, tip.ID) {
		if err != nil && !errors.Is(err, ErrNotFound) {
			return false
		}
	}
	return true
}

// Delete forgets a session and its children, in all its roots. Files stay as they are. One whose record cannot be
// decoded is forgotten as well; its children are not known. Where a checkpoint of it is lost or damaged, a repair of
// the store may bring it back, and the error says what is wrong.
func (s *Sessions) Delete(ctx context.Context, id string) error {
	others := s.others(ctx, id)
	err := s.updateFamily(ctx, func(u *operation.LineUpdate) error {
		h, err := s.load(ctx, id)
		if Unreadable(err) && s.whole(ctx, id) {
			return u.Delete(id)
		}
		if err == nil {
			err = h.owned()
		}
		if err != nil {
			return err
		}
		all, err := s.digests(ctx)
		if err != nil {
			return err
		}
		for _, child := range slices.Backward(descendants(all, id)) {
			if err := u.Delete(child.ID); err != nil {
				return err
			}
		}
		return u.Delete(id)
	})
	if err != nil {
		return err
	}
	return missingError(others.each(func(o *otherRoot) error {
		if err := o.Delete(ctx, id); !errors.Is(err, ErrNotFound) {
			return err
		}
		return nil
	}))
}

// SetAside takes a session out of the list whose record is damaged. Its checkpoints stay: cairn.Repo.Log lists them. It is
// ErrExists for a session that can be read, or that another release of cairn may read.
func (s *Sessions) SetAside(ctx context.Context, id string) error {
	return s.updateFamily(ctx, func(u *operation.LineUpdate) error {
		_, err := s.load(ctx, id)
		switch {
		case err == nil || errors.Is(err, cairn.ErrStore):
			return fmt.Errorf("session %q: %w: its record is not damaged", id, cairn.ErrExists)
		case !errors.Is(err, cairn.ErrCorrupt) || !s.whole(ctx, id):
			return err
		}
		return u.SetAside(id)
	})
}
