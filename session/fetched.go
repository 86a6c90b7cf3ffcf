package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// Origin says where a session was fetched from, in the words of that machine.
type Origin = operation.Machine

// ErrFetched: the session was fetched from another store. It can be read, restored and forked; Resume
// makes it one of this store.
var ErrFetched = errors.New("the session was fetched")

// owned refuses a session of another store.
func (h *history) owned() error {
	if h.from == nil {
		return nil
	}
	return fmt.Errorf("session %q: %w from %s (cairn resume %s goes on with it)", h.ID, ErrFetched, h.from, word(h.ID))
}

// loadFetched reads a session that another store has pushed.
func (s *Sessions) loadFetched(ctx context.Context, id string) (*history, error) {
	tip, err := s.lines.FetchedTip(ctx, id)
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
}

// fetchedDigests lists the sessions of other stores, of one id the newest. A session whose record
// cannot be read is left out: it came from elsewhere.
func (s *Sessions) fetchedDigests(ctx context.Context) ([]fetchedDigest, error) {
	tips, err := s.lines.FetchedTips(ctx)
	if err != nil {
		return nil, err
	}
	newest := make(map[string]int)
	var list []fetchedDigest
	for _, tip := range tips {
		d, err := s.digestOf(ctx, tip.LineEvent)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || d == nil || checkID("id of the session", d.ID) != nil {
			continue
		}
		at, again := newest[d.ID]
		switch {
		case !again:
			newest[d.ID] = len(list)
			list = append(list, fetchedDigest{*d, tip.From})
		case list[at].At < d.At:
			list[at] = fetchedDigest{*d, tip.From}
		}
	}
	return list, nil
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

// moveRoot maps the absolute paths of a record from the root on one machine to that on this one.
// Others stay.
func (r *record) moveRoot(from, to string) {
	if from == "" || from == to {
		return
	}
	if len(from) > 1 && from[1] == ':' { // of Windows
		from = strings.ReplaceAll(from, `\`, "/")
	}
	for i := range r.Events {
		ev := &r.Events[i]
		for _, paths := range []cairn.Paths{ev.Files, ev.First, ev.Paths} {
			for j, path := range paths {
				if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(from, "/")+"/"); ok {
					paths[j] = strings.TrimSuffix(to, "/") + "/" + rest
				}
			}
		}
	}
}

// movedFrom returns the root that the earlier records of a line have, "" for that of this one.
func (r *record) movedFrom() string {
	for i := range r.Events {
		if r.Events[i].Root != "" {
			return string(r.Events[i].Root)
		}
	}
	return ""
}

// Resume goes on with a session: it restores the state of its newest checkpoint, and makes a fetched
// session one of this store. Files that it overwrites or deletes are saved first, as in cairn.Repo.Restore,
// and the restore can be undone. Where both this store and the other one went on since they parted, the
// error wraps cairn.ErrExists and nothing is done.
func (s *Sessions) Resume(ctx context.Context, id string, opt cairn.RestoreOptions) (*cairn.Result, error) {
	if err := checkID("id of the session", id); err != nil {
		return nil, err
	}
	tip, from, err := s.newestOf(ctx, id)
	if err != nil {
		return nil, err
	}
	res, err := s.repo.Restore(ctx, tip, opt)
	if err != nil || opt.DryRun || from == nil {
		return res, err
	}
	err = s.update(ctx, id, func(u *operation.LineUpdate) error {
		if now, again, err := s.newestOf(ctx, id); err != nil || now != tip || again == nil {
			return err // another process was faster
		}
		h, err := s.loadFetched(ctx, id)
		if err != nil {
			return err
		}
		h.from = nil // from here on it is one of this store
		s.add(h, event{Kind: kindResume, Root: from.Root})
		return s.append(ctx, u, h, operation.LineAppend{Message: "resume session " + name(id), Parent: tip})
	})
	return res, err
}

// newestOf returns the newest checkpoint of a session. from is the other store that has it, nil for
// this one.
func (s *Sessions) newestOf(ctx context.Context, id string) (tip string, from *Origin, err error) {
	own, err := s.lines.Tip(id)
	if err != nil && !errors.Is(err, cairn.ErrNotFound) {
		return "", nil, err
	}
	fetched, ferr := s.lines.FetchedTip(ctx, id)
	switch {
	case ferr != nil && !errors.Is(ferr, cairn.ErrNotFound):
		return "", nil, ferr
	case own == nil && ferr != nil:
		return "", nil, notFound("session %q", id)
	case ferr != nil:
		return own.ID, nil, nil
	case own == nil:
		return fetched.ID, &fetched.From, nil
	}
	for _, way := range []struct{ from, to string }{{own.ID, fetched.ID}, {fetched.ID, own.ID}} {
		met, err := s.leadsTo(ctx, way.from, way.to)
		if err != nil {
			return "", nil, err
		}
		if met && way.from == own.ID {
			return own.ID, nil, nil
		}
		if met {
			return fetched.ID, &fetched.From, nil
		}
	}
	if s.onlyResumed(own) {
		return "", nil, fmt.Errorf("session %q: %w: it was resumed here, and went on at %s (cairn session delete %s, then cairn resume %[4]s goes on with it)",
			id, cairn.ErrExists, &fetched.From, word(id))
	}
	return "", nil, fmt.Errorf("session %q: %w: it went on here and at %s since they parted (cairn restore %.12s takes the files from there)",
		id, cairn.ErrExists, &fetched.From, fetched.ID)
}

// onlyResumed reports whether nothing has happened in a session since Resume made it one of this store.
func (s *Sessions) onlyResumed(tip *operation.LineEvent) bool {
	rec, err := s.decode(tip)
	return err == nil && len(rec.Events) == 1 && rec.Events[0].Kind == kindResume
}

// leadsTo reports whether a checkpoint of a line comes after another one.
func (s *Sessions) leadsTo(ctx context.Context, from, to string) (bool, error) {
	for e, err := range s.lines.Back(ctx, from) {
		if errors.Is(err, cairn.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if e.ID == to {
			return true, nil
		}
	}
	return false, nil
}
