package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// News is what went back or came back in a session since its host was last told, by whichever door: a
// command in a shell, the page, a tool, a prompt. Turns that went back and came back again in the
// meantime are no news.
type News struct {
	TakenBack   []MovedTurn `json:"takenBack,omitempty" doc:"Oldest first."`
	BroughtBack []MovedTurn `json:"broughtBack,omitempty" doc:"Oldest first."`

	// Others are the kinds of the operations of no session, such as a restore, that changed paths of
	// the session.
	Others []string `json:"kinds,omitempty" doc:"Of the operations of no session that changed paths of this one."`

	// Restored and Deleted are paths from the root, absolute in another root: where something stands
	// now, and where nothing does.
	Restored cairn.Paths `json:"restored"`
	Deleted  cairn.Paths `json:"deleted"`

	Stay []cairn.PathReason `json:"kept,omitempty" doc:"What the newest operation left as it was."`
	Git  []string           `json:"git,omitempty" doc:"What the operations changed in the user's git repository, in words."`
}

// MovedTurn is a turn that went back or came back.
type MovedTurn struct {
	Message string `json:"messageID"`
	Prompt  string `json:"prompt,omitempty"`
	Files   int    `json:"files" doc:"That its own steps changed, at most."`
	Partly  bool   `json:"partly,omitempty" doc:"Only a part of the turn moved."`
}

// TakeNews returns the news of a session, and records that the host knows them: each goes to it once.
// It returns nil where there are none, also for a session that has not begun. The record changes
// neither the revert in effect nor the time of the session.
func (s *Sessions) TakeNews(ctx context.Context, id string) (*News, error) {
	n, record, err := s.news(ctx, id, nil)
	if err != nil || !record {
		return nil, err
	}
	err = s.update(ctx, id, func(u *operation.LineUpdate) (err error) {
		n, _, err = s.news(ctx, id, u)
		return err
	})
	return n, err
}

// news finds the news of a session, nil for none. With u it records that they are told. There may be
// something to record without news: operations that have changed no path of the session. They are not
// looked at again then, also if the session changes one of their paths later.
func (s *Sessions) news(ctx context.Context, id string, u *operation.LineUpdate) (n *News, record bool, err error) {
	f, err := s.family(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	heard, err := s.unheard(ctx, f)
	if err != nil || len(heard.list) == 0 && len(f.head.left) == 0 && !heard.others {
		return nil, false, err
	}
	active, err := s.active(ctx, f.head)
	if err != nil {
		return nil, false, err
	}
	n = &News{}
	others := s.others(ctx, id)
	others.countSteps(ctx, f.head)
	ev := f.head.movedTurns(n, active)
	if err := s.movedPaths(ctx, n, heard.list); err != nil {
		return nil, false, err
	}
	if err := others.movedPaths(ctx, n, heard.list); err != nil {
		return nil, false, err
	}
	record = !n.none() || len(heard.list) == 0 && len(f.head.left) == 0
	if n.none() {
		n = nil
	}
	if u == nil || !record {
		return n, record, nil
	}
	ev.Told = heard.newest
	f.head.add(f.head.At+1, ev)
	return n, true, s.append(ctx, u, f.head, operation.LineAppend{Message: "the agent is told what went back"})
}

// none reports whether neither files nor git nor a turn that changed files has moved.
func (n *News) none() bool {
	changed := func(t MovedTurn) bool { return t.Files > 0 }
	return len(n.Restored)+len(n.Deleted)+len(n.Git) == 0 && !slices.ContainsFunc(n.TakenBack, changed) && !slices.ContainsFunc(n.BroughtBack, changed)
}

// unheardOf is an operation that the host does not know of.
type unheardOf struct {
	*cairn.Operation
	own   bool     // it moved the boundary of the session
	paths []string // that concern the session
}

// unheard are the operations since the host was last told.
type unheard struct {
	list   []unheardOf // those that concern the session, oldest first
	newest string      // of all operations
	others bool        // there are some of no session
}

func (s *Sessions) unheard(ctx context.Context, f *family) (u unheard, err error) {
	h := f.head
	var changed map[string]bool
	for op, err := range s.repo.Operations(ctx) {
		if err != nil {
			return u, err
		}
		if u.newest == "" {
			u.newest = op.ID
		}
		if op.ID == h.Told || op.When.Before(instant(h.Created)) {
			break
		}
		moved, err := s.movedSession(op)
		switch {
		case err != nil:
			return u, err
		case moved == h.ID:
			u.list = append(u.list, unheardOf{op, true, op.Paths})
			continue
		case moved != "":
			continue
		}
		if !u.others {
			if changed, err = s.changedPaths(ctx, f); err != nil {
				return u, err
			}
			u.others = true
		}
		paths := slices.DeleteFunc(slices.Clone(op.Paths), func(p string) bool { return !changed[s.absolute(p)] })
		if len(paths) > 0 {
			u.list = append(u.list, unheardOf{op, false, paths})
		}
	}
	slices.Reverse(u.list)
	return u, nil
}

// movedSession returns the session whose boundary an operation moved, or whose move it took back; ""
// for none.
func (s *Sessions) movedSession(op *cairn.Operation) (string, error) {
	origin, err := s.lines.Origin(op)
	if err != nil || origin == nil {
		return "", err
	}
	e, err := s.lines.MovedBy(origin)
	if err != nil || e == nil {
		return "", err
	}
	rec, err := s.decode(e)
	if err != nil {
		return "", err
	}
	return rec.Now.ID, nil
}

// changedPaths lists what the steps of a family changed, as absolute paths.
func (s *Sessions) changedPaths(ctx context.Context, f *family) (map[string]bool, error) {
	set := make(map[string]bool)
	for _, h := range f.members {
		for st := range h.steps() {
			out, err := s.stepOut(ctx, h, st)
			if errors.Is(err, ErrExpired) {
				continue
			}
			if err != nil {
				return nil, err
			}
			for _, file := range out.Patch.Files {
				set[file] = true
			}
		}
	}
	return set, nil
}

// movedPaths adds what the operations did to the files. A path that stands as it stood before the
// first of several operations is left out. Where the store has lost a state around them, all stay.
func (s *Sessions) movedPaths(ctx context.Context, n *News, ops []unheardOf) error {
	var paths []string
	for _, op := range ops {
		paths = append(paths, op.paths...)
		n.Git = append(n.Git, op.Git...)
		if !op.own {
			n.Others = append(n.Others, op.Kind)
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	if len(ops) > 1 && len(paths) > 0 {
		changes, err := s.repo.Changes(ctx, ops[0].Before, ops[len(ops)-1].After, paths...)
		if err != nil && !errors.Is(err, cairn.ErrNotFound) {
			return err
		}
		differs := make(map[string]bool)
		for i := range changes {
			differs[changes[i].Path] = true
		}
		paths = slices.DeleteFunc(paths, func(p string) bool { return err == nil && !differs[p] })
	}
	for _, path := range paths {
		if _, err := os.Lstat(filepath.Join(s.repo.Root(), filepath.FromSlash(path))); err == nil {
			n.Restored = append(n.Restored, path)
		} else {
			n.Deleted = append(n.Deleted, path)
		}
	}
	if len(ops) > 0 {
		last := ops[len(ops)-1]
		n.Stay = slices.Concat(last.Conflicts, last.Kept)
	}
	return nil
}

// movedTurns adds the turns between the boundary that the host knows and the one in effect, and
// returns the event that tells of the latter.
func (h *history) movedTurns(n *News, active []*boundary) event {
	now := newest(active)
	taken, brought := h.between(h.toldAt, now)
	n.TakenBack, n.BroughtBack = append(slices.Clone(h.left), taken...), brought
	ev := event{Kind: kindTold}
	if now != nil {
		ev.Message, ev.Part, ev.Start = now.Message, now.Part, now.Start
	}
	return ev
}

// between lists the turns that go, or come, when one boundary replaces another. Turns that changed no
// file count only where there is no other one.
func (h *history) between(was, is *boundary) (taken, brought []MovedTurn) {
	from, to := max(h.position(was), 0), max(h.position(is), 0)
	switch {
	case to < from:
		taken = movedTurns(h.messages[to:from], nil)
	case from < to:
		brought = movedTurns(h.messages[from:to], is.partOf())
	}
	if part := is.partOf(); part != nil && to <= from && !was.at(part) {
		taken = append(movedTurns(h.messages[to-1:to], part), taken...)
	}
	if part := was.partOf(); part != nil && from <= to && !is.at(part) {
		brought = append(movedTurns(h.messages[from-1:from], part), brought...)
	}
	return taken, brought
}

// partOf is the event of a boundary within a message, nil for another one.
func (b *boundary) partOf() *event {
	if b == nil || b.Part == "" {
		return nil
	}
	return &b.event
}

func (b *boundary) at(ev *event) bool {
	return b != nil && b.Message == ev.Message && b.Part == ev.Part
}

func movedTurns(messages []*message, part *event) (turns []MovedTurn) {
	counts := func(m *message) bool { return m.Role == RoleUser || m.Prompt != "" || len(m.steps) > 0 }
	changes := func(m *message) bool { return m.changedFiles() > 0 }
	if slices.ContainsFunc(messages, changes) {
		counts = changes
	}
	for _, m := range messages {
		if counts(m) {
			turns = append(turns, MovedTurn{m.ID, m.Prompt, m.changedFiles(), part != nil && part.Message == m.ID})
		}
	}
	return turns
}

func (m *message) changedFiles() (n int) {
	for _, s := range m.steps {
		n += s.changed + s.elsewhere
	}
	return n
}

// told notes that the host knows the boundary of the event.
func (h *history) told(ev *event) {
	h.Told, h.left, h.toldAt = ev.Told, nil, nil
	if ev.Message != "" || ev.Start {
		h.toldAt = &boundary{event: *ev}
	}
}

// recordLeft adds the turns that leave the session and that the host has not been told of.
func (h *history) recordLeft(ev *event) {
	if ev.Message != "" || ev.Start {
		taken, _ := h.between(h.toldAt, &boundary{event: *ev})
		h.left = append(slices.Clip(h.left), taken...)
	}
	h.toldAt = nil
}
