package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Resume goes on with a session and its sub-agents: it restores the state of their newest checkpoint, and makes a
// fetched session one of this store. Files that it overwrites or deletes are saved first, as in cairn.Repo.Restore,
// and the restore can be undone. Where both this store and the other one went on since they parted, the
// error wraps cairn.ErrExists and nothing is done. A store that only resumed the session did not go on with it.
func (s *Sessions) Resume(ctx context.Context, id string, opt cairn.RestoreOptions) (*cairn.Result, error) {
	if err := checkID("id of the session", id); err != nil {
		return nil, err
	}
	ways, to, err := s.goingOn(ctx, id, "")
	if err != nil {
		return nil, err
	}
	res, err := s.repo.Restore(ctx, to, opt)
	if err != nil || opt.DryRun || !slices.ContainsFunc(ways, func(w way) bool { return w.from != nil }) {
		return res, err
	}
	err = s.updateFamily(ctx, func(u *operation.LineUpdate) error {
		ways, now, err := s.goingOn(ctx, id, "")
		if err != nil || now != to {
			return err // another process was faster
		}
		for _, w := range ways { // the session itself is the last: until then it can be resumed again
			if err := s.takeOver(ctx, u, w); err != nil {
				return err
			}
		}
		return nil
	})
	return res, err
}

// way is where a session goes on.
type way struct {
	id     string
	tip    string  // its newest checkpoint
	at     int64   // when something happened last
	from   *Origin // the other store that has it, nil for this one
	beside string  // the newest checkpoint here, which tip does not come after: nothing but bookkeeping is missing there
	store  string  // another store that has all its work, "" for none
}

const noStore = "-" // no store has this id

// NewestState returns the id of the newest checkpoint of a session of this store and of its sub-agents, which may have
// worked on after it. What other stores have of the session does not count. The error wraps cairn.ErrNotFound where
// there is no such session.
func (s *Sessions) NewestState(ctx context.Context, id string) (string, error) {
	if err := checkID("id of the session", id); err != nil {
		return "", err
	}
	_, newest, err := s.goingOn(ctx, id, noStore)
	return newest, err
}

// goingOn returns where a session and its sub-agents go on, the session as the last, and the newest checkpoint of all.
// Beside this store another one counts, "" for any. Sub-agents count where they are of the store that has all work of
// the session.
func (s *Sessions) goingOn(ctx context.Context, id, store string) (ways []way, newest string, err error) {
	self, err := s.newestOf(ctx, id, store)
	if err != nil {
		return nil, "", err
	}
	all, err := s.named(ctx)
	if err != nil {
		return nil, "", err
	}
	at := self.at
	newest = self.tip
	for _, d := range descendants(all, id) {
		w, err := s.newestOf(ctx, d.ID, cmp.Or(self.store, noStore))
		if errors.Is(err, cairn.ErrNotFound) || err == nil && w.from == nil && self.from != nil {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		if ways = append(ways, w); w.at > at {
			newest, at = w.tip, w.at
		}
	}
	return append(ways, self), newest, nil
}

// takeOver makes a fetched session one of this store.
func (s *Sessions) takeOver(ctx context.Context, u *operation.LineUpdate, w way) error {
	if w.from == nil {
		return nil
	}
	h, err := s.loadFetched(ctx, w.id, w.from.Store)
	if err != nil {
		return err
	}
	own, _, err := s.loadOrNew(ctx, w.id)
	if err != nil {
		return err
	}
	h.from, h.Further = nil, own.Further // from here on it is one of this store, with the other roots that it has here
	s.add(h, event{Kind: kindResume, Root: w.from.Root})
	return s.append(ctx, u, h, operation.LineAppend{Message: "resume session " + name(w.id), Parent: w.tip, Beside: w.beside})
}

// newestOf returns where a session goes on: here, or at another store, "" for any.
func (s *Sessions) newestOf(ctx context.Context, id, store string) (way, error) {
	own, err := s.lines.Tip(id)
	if err != nil && !errors.Is(err, cairn.ErrNotFound) {
		return way{}, err
	}
	fetched, ferr := s.lines.FetchedTip(ctx, id, store, s.bookkeeping)
	switch {
	case ferr != nil && !errors.Is(ferr, cairn.ErrNotFound):
		return way{}, ferr
	case own == nil && ferr != nil:
		return way{}, notFound("session %q", id)
	}
	here, there := way{id: id}, way{id: id, from: &fetched.From, store: fetched.From.Store}
	var worked, workedThere *operation.LineEvent
	if own != nil {
		worked = s.lines.LastWork(ctx, own, s.bookkeeping)
		here.tip, here.at = own.ID, worked.At()
	}
	if ferr == nil {
		workedThere = fetched.Last
		there.tip, there.at = fetched.ID, workedThere.At()
	}
	switch {
	case ferr != nil:
		return here, nil
	case own == nil:
		return there, nil
	}
	all, err := s.leadsTo(ctx, fetched.ID, worked)
	if err != nil {
		return way{}, err
	}
	if all {
		here.store = there.store
	}
	if has, err := s.leadsTo(ctx, own.ID, workedThere); err != nil || has {
		return here, err
	}
	if !all {
		return s.rewritten(ctx, here, there, worked, workedThere)
	}
	if has, err := s.leadsTo(ctx, fetched.ID, own); err != nil || has {
		return there, err
	}
	there.beside = own.ID
	return there, nil
}

// rewritten returns where a session goes on whose line was rewritten, as by a purge: the checkpoints have other ids at
// the two stores. A line that was rewritten there takes the place of the one here, which may have what was purged.
func (s *Sessions) rewritten(ctx context.Context, here, there way, worked, workedThere *operation.LineEvent) (way, error) {
	all, err := s.tells(ctx, there.tip, worked)
	if err != nil {
		return way{}, err
	}
	has, err := s.tells(ctx, here.tip, workedThere)
	switch {
	case err != nil:
		return way{}, err
	case !all && !has:
		return way{}, s.parted(ctx, here.id, here.tip, there.from, there.tip)
	case s.replacedHere(ctx, there.tip):
		return way{}, fmt.Errorf("session %q: %w: what was purged here is still in its line at %s (cairn purge of the same paths there, a push, and this again)",
			here.id, cairn.ErrExists, there.from)
	case all:
		here.store = there.store
		return there, nil
	}
	return here, nil
}

// tells reports whether a line has the event of a checkpoint of another line, at the same time. A purge changes ids, and
// neither times nor what is told.
func (s *Sessions) tells(ctx context.Context, from string, e *operation.LineEvent) (bool, error) {
	for f, err := range s.lines.Back(ctx, from) {
		if errors.Is(err, cairn.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if f.At() == e.At() {
			return s.tellSame(f, e)
		}
	}
	return false, nil
}

func (s *Sessions) tellSame(a, b *operation.LineEvent) (bool, error) {
	told, err := s.decode(a)
	if err != nil {
		return false, err
	}
	other, err := s.decode(b)
	if err != nil {
		return false, err
	}
	return slices.EqualFunc(told.Events, other.Events, func(x, y event) bool {
		return x.Kind == y.Kind && x.Message == y.Message && x.Step == y.Step
	}), nil
}

// replacedHere reports whether a purge of this store has replaced a checkpoint of a line.
func (s *Sessions) replacedHere(ctx context.Context, from string) bool {
	replaced := s.lines.Replaced()
	for e, err := range s.lines.Back(ctx, from) {
		if err != nil {
			break
		}
		if replaced(e.ID) {
			return true
		}
	}
	return false
}

// bookkeeping reports whether nothing happens in a session at a checkpoint: it was resumed, its beginning was told
// again, or the host was told what went back.
func (s *Sessions) bookkeeping(e *operation.LineEvent) bool {
	rec, err := s.decode(e)
	if err != nil || len(rec.Events) == 0 || e.Before != "" {
		return false
	}
	for i := range rec.Events {
		switch rec.Events[i].Kind {
		case kindResume, kindBegin, kindTold:
		default:
			return false
		}
	}
	return true
}

// parted says what this store has of a session since it parted from the line of another store.
func (s *Sessions) parted(ctx context.Context, id, own string, from *Origin, fetched string) error {
	there := make(map[string]bool)
	for e, err := range s.lines.Back(ctx, fetched) {
		if err != nil {
			break
		}
		there[e.ID] = true
	}
	n := make(map[string]int)
	for e, err := range s.lines.Back(ctx, own) {
		if err != nil || there[e.ID] {
			break
		}
		rec, err := s.decode(e)
		if err != nil {
			return err
		}
		for i := range rec.Events {
			n[rec.Events[i].work()]++
		}
	}
	var did []string
	for _, noun := range []string{"prompt", "step", "revert"} {
		if n[noun] > 0 {
			did = append(did, wording.Count(n[noun], noun))
		}
	}
	here := ""
	if len(did) > 0 {
		here = " (" + strings.Join(did, ", ") + ")"
	}
	return fmt.Errorf("session %q: %w: it went on here%s and at %s since they parted (cairn restore %.12s takes the files from there)",
		id, cairn.ErrExists, here, from, fetched)
}

// work is what an event counts as in a message, "" for nothing.
func (ev *event) work() string {
	switch {
	case ev.Kind == kindMessage && ev.Role == RoleUser:
		return "prompt"
	case ev.Kind == kindStep:
		return "step"
	case ev.Kind == kindRevert || ev.Kind == kindUnrevert:
		return "revert"
	}
	return ""
}

// leadsTo reports whether a checkpoint of a line comes after another one.
func (s *Sessions) leadsTo(ctx context.Context, from string, to *operation.LineEvent) (bool, error) {
	for e, err := range s.lines.Back(ctx, from) {
		if errors.Is(err, cairn.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if e.ID == to.ID {
			return true, nil
		}
	}
	return false, nil
}
