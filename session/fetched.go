package session

import (
	"cmp"
	"context"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// Origin says where a session was fetched from, in the words of that machine.
type Origin = operation.Machine

// loadFetched reads a session that another store has pushed, "" for any.
func (s *Sessions) loadFetched(ctx context.Context, id, store string) (*history, error) {
	tip, err := s.lines.FetchedTip(ctx, id, store, s.bookkeeping)
	if err != nil {
		return nil, err
	}
	l, err := s.readSince(ctx, tip.LineEvent, nil, string(tip.From.Root))
	if err != nil {
		return nil, err
	}
	h := replay(s.repo.Root(), l.entries, l.truncated)
	if h.ID != id {
		return nil, notFound("session %q", id)
	}
	s.bury(h)
	from := tip.From
	h.from = &from
	return h, nil
}

// fetchedDigest is the digest of a session of another store.
type fetchedDigest struct {
	digest
	from Origin
	tip  *operation.LineEvent
}

// fetchedDigests lists the sessions of other stores, of one id the newest. A session whose record
// cannot be read is left out: it came from elsewhere.
func (s *Sessions) fetchedDigests(ctx context.Context) ([]fetchedDigest, error) {
	tips, known, err := s.readFetched(ctx)
	if err != nil {
		return nil, err
	}
	newest := make(map[string]int)
	var list []fetchedDigest
	for _, tip := range tips {
		t := known[tip.ID]
		d := t.copied()
		if t.err != nil || d == nil || checkID("id of the session", d.ID) != nil {
			continue
		}
		f := fetchedDigest{*d, tip.From, tip.LineEvent}
		at, again := newest[d.ID]
		switch {
		case !again:
			newest[d.ID] = len(list)
			list = append(list, f)
		case s.after(ctx, f, list[at]):
			list[at] = f
		}
	}
	return list, nil
}

// readFetched is readTips for the lines that other stores have pushed.
func (s *Sessions) readFetched(ctx context.Context) (tips []operation.FetchedLine, known map[string]*tipRecord, err error) {
	s.mu.Lock()
	before := s.fetched
	s.mu.Unlock()
	tips, err = s.lines.FetchedTips(ctx, func(id string) *operation.LineEvent {
		if t := before[id]; t != nil {
			return t.event
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	known = make(map[string]*tipRecord, len(tips))
	for _, tip := range tips {
		t := before[tip.ID]
		if t == nil {
			if t = s.readTip(ctx, tip.LineEvent); ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			event := *tip.LineEvent
			event.Record = nil
			t.event = &event
		}
		known[tip.ID] = t
	}
	s.keepTips(&s.fetched, known)
	return tips, known, nil
}

// after reports whether something happened later in one line of a session than in another one.
func (s *Sessions) after(ctx context.Context, a, b fetchedDigest) bool {
	at := func(d fetchedDigest) int64 { return s.lines.LastWork(ctx, d.tip, s.bookkeeping).At() }
	return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a.At, b.At)) > 0
}

// fetchedBeside lists the sessions of other stores that this store does not have.
func (s *Sessions) fetchedBeside(ctx context.Context, own []digest) ([]fetchedDigest, error) {
	all, err := s.fetchedDigests(ctx)
	if err != nil {
		return nil, err
	}
	has := make(map[string]bool)
	for i := range own {
		has[own[i].ID] = true
	}
	var list []fetchedDigest
	for _, d := range all {
		if !has[d.ID] {
			list = append(list, d)
		}
	}
	return list, nil
}

// named lists the digests of all sessions that can be named: those of this store, and fetched ones. One that cannot
// be read can be named, so that the answer says why it is not found.
func (s *Sessions) named(ctx context.Context) ([]digest, error) {
	all, unread, err := s.allDigests(ctx)
	if err != nil {
		return nil, err
	}
	for _, u := range unread {
		all = append(all, digest{ID: u.ID})
	}
	more, err := s.fetchedBeside(ctx, all)
	for _, d := range more {
		all = append(all, d.digest)
	}
	return all, err
}

// around lists the sessions whose steps may overlap those of a session: the sessions of its store, and those of
// them that cannot be read.
func (s *Sessions) around(ctx context.Context, h *history) ([]digest, []Unread, error) {
	if h.from == nil {
		return s.allDigests(ctx)
	}
	fetched, err := s.fetchedDigests(ctx)
	if err != nil {
		return nil, nil, err
	}
	var list []digest
	for _, d := range fetched {
		if d.from.Store == h.from.Store {
			list = append(list, d.digest)
		}
	}
	return list, nil, nil
}

// owned refuses a session of another store.
func (h *history) owned() error {
	if h.from == nil {
		return nil
	}
	return fmt.Errorf("session %q: %w from %s (cairn resume %s goes on with it)", h.ID, ErrFetched, h.from, word(h.ID))
}
