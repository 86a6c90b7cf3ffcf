package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/process"
)

// Sessions are the sessions of one root. It may be used from several goroutines.
type Sessions struct {
	repo  *cairn.Repo
	lines operation.Lines
	clock func() time.Time
	awake func() process.Instant

	mu        sync.Mutex
	known     map[string]*loaded    // the events read last, by id
	summaries map[string]summarized // by id
	tips      map[string]*tipRecord // newest records of lines that were read, by the ids of their checkpoints
	fetched   map[string]*tipRecord // the same of lines that other stores have pushed

	alone bool                 // called by the Sessions of another root, which see to all roots
	other map[string]*Sessions // by root: those of other roots, each alone

	beginnings map[string]*PendingStep // by id: of the newest step that is about to begin, or did not
}

// loaded is the part of a line that was read. Entries are appended, or lose their oldest part.
type loaded struct {
	entries   []*entry // oldest first
	truncated bool
}

// maxLoaded is the number of lines that are kept in memory.
const maxLoaded = 64

// New returns the sessions in the store of a root.
func New(r *cairn.Repo) *Sessions {
	return &Sessions{
		repo: r, lines: access.Lines(r), clock: time.Now, awake: process.Awake,
		known: make(map[string]*loaded), summaries: make(map[string]summarized),
	}
}

func notFound(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNotFound, fmt.Sprintf(format, args...))
}

// load reads a session of this store, or else one that another store has pushed. For a line that was read before it reads only the new part.
func (s *Sessions) load(ctx context.Context, id string) (*history, error) {
	if err := checkID("id of the session", id); err != nil {
		return nil, err
	}
	h, err := s.loadOwn(ctx, id)
	if !errors.Is(err, ErrNotFound) {
		return h, err
	}
	if h, ferr := s.loadFetched(ctx, id, ""); !errors.Is(ferr, cairn.ErrNotFound) {
		return h, ferr
	}
	return nil, err
}

// loadOwn reads a session of this store.
func (s *Sessions) loadOwn(ctx context.Context, id string) (*history, error) {
	tip, err := s.lines.Tip(id)
	if errors.Is(err, cairn.ErrNotFound) {
		if why := s.lines.LossOf(id); why != "" {
			return nil, notFound("session %q: %s", id, why)
		}
		return nil, notFound("session %q", id)
	}
	if err != nil {
		return nil, err
	}
	l, err := s.read(ctx, id, tip)
	if err != nil {
		return nil, err
	}
	h := replay(s.repo.Root(), l.entries, l.truncated)
	if h.ID != id { // another id of the same hash
		return nil, notFound("session %q", id)
	}
	s.bury(h)
	return h, nil
}

// loadOrNew is load for a session that may not have begun in this store.
func (s *Sessions) loadOrNew(ctx context.Context, id string) (h *history, isNew bool, err error) {
	if err := checkID("id of the session", id); err != nil {
		return nil, false, err
	}
	h, err = s.loadOwn(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return &history{digest: digest{ID: id}, root: s.repo.Root()}, true, nil
	}
	return h, false, err
}

func (s *Sessions) read(ctx context.Context, id string, tip *operation.LineEvent) (*loaded, error) {
	s.mu.Lock()
	known := s.known[id]
	s.mu.Unlock()
	l, err := s.readSince(ctx, tip, known, "")
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= maxLoaded && s.known[id] == nil {
		for other := range s.known {
			delete(s.known, other)
			break
		}
	}
	s.known[id] = l
	return l, nil
}

// readSince reads the part of a line that is not known. root is where the project lies on the machine of
// the line, "" for here.
func (s *Sessions) readSince(ctx context.Context, tip *operation.LineEvent, known *loaded, root string) (*loaded, error) {
	ends, err := s.ends(ctx)
	if err != nil {
		return nil, err
	}
	places := make(map[string]int)
	if known != nil {
		for i, e := range known.entries {
			places[e.mark.id] = i + 1
		}
	}
	l := &loaded{}
	var fresh []*entry
	for e, err := range s.lines.Back(ctx, tip.ID) {
		if errors.Is(err, cairn.ErrNotFound) {
			l.truncated = true
			break
		}
		if err != nil {
			return nil, err
		}
		if n := places[e.ID]; n > 0 {
			from := intact(places, ends)
			l.entries, l.truncated = known.entries[from:n:n], known.truncated || from > 0
			break
		}
		rec, err := s.decode(e)
		if err != nil {
			return nil, err
		}
		rec.moveRoot(cmp.Or(root, s.lines.RootAt(e.At())), s.repo.Root())
		root = cmp.Or(rec.movedFrom(), root)
		fresh = append(fresh, newEntry(e, rec))
	}
	slices.Reverse(fresh)
	l.entries = append(l.entries, fresh...)
	l.truncated = l.truncated || len(l.entries) > 0 && !l.entries[0].rec.begins()
	return l, nil
}

// newEntry returns the part of a checkpoint that a session needs.
func newEntry(e *operation.LineEvent, rec *record) *entry {
	return &entry{
		line: operation.LineEvent{
			Checkpoint: &cairn.Checkpoint{ID: e.ID, Hash: e.Hash, When: e.When},
			Before:     e.Before, Wanted: e.Wanted, Paths: e.Paths, Unmoved: e.Unmoved, Outside: e.Outside,
		},
		mark: mark{e.ID, e.Hash}, rec: rec,
	}
}

// now returns the time of a new event. The times of a line are in order whatever the clock says.
func (s *Sessions) now(h *history) int64 { return max(s.clock().UnixNano(), h.At+1) }

// timeOf returns the time of the pending events. A word to the host is no event of the session: it
// leaves the order of sessions and operations as it is.
func (s *Sessions) timeOf(h *history) int64 {
	if len(h.pending) == 1 && h.pending[0].Kind == kindTold {
		return h.At + 1
	}
	return s.now(h)
}

// add applies an event that is to be appended.
func (s *Sessions) add(h *history, ev event) {
	s.maskCommands(&ev)
	h.add(s.now(h), ev)
}

// encode makes a record of the pending events.
func (s *Sessions) encode(h *history) (json.RawMessage, error) {
	h.clock = s.awake()
	rec := record{Version: recordVersion, Events: h.pending, Now: h.next(s.timeOf(h))}
	if s.lines.NoPrompts() {
		rec.forgetTexts()
	}
	data, err := json.Marshal(&rec)
	if err != nil {
		return nil, fmt.Errorf("session %q: %w", h.ID, err)
	}
	h.pending, h.digest = nil, rec.Now
	return data, nil
}

// digests lists the digests of all sessions that can be read.
func (s *Sessions) digests(ctx context.Context) ([]digest, error) {
	list, _, err := s.allDigests(ctx)
	return list, err
}

// allDigests lists the digests of all sessions, and the sessions that cannot be read.
func (s *Sessions) allDigests(ctx context.Context) (list []digest, unread []Unread, err error) {
	tips, known, err := s.readTips(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, tip := range tips {
		u := Unread{ID: tip.Line, Lost: tip.Err != nil, at: forever, open: true}
		var d *digest
		if err = tip.Err; err == nil {
			t := known[tip.ID]
			u.at, u.open = t.at, t.open
			d, err = t.copied(), t.err
		}
		if err == nil && d != nil && d.Open != "" {
			err = s.seeOpen(ctx, d)
		}
		switch {
		case err != nil && (ctx.Err() != nil || tip.Err == nil && !Unreadable(err)):
			return nil, nil, err
		case err != nil:
			u.Err = err
			unread = append(unread, u)
		case d != nil:
			list = append(list, *d)
		}
	}
	return list, unread, nil
}

// tipRecord is what the newest checkpoint of a line tells of its session.
type tipRecord struct {
	at     int64
	open   bool    // a step may last longer
	digest *digest // nil for none
	err    error   // of the digest

	event *operation.LineEvent // of a fetched line, without its record
}

// copied is the digest for a caller who corrects it, nil for none.
func (t *tipRecord) copied() *digest {
	if t.digest == nil {
		return nil
	}
	d := *t.digest
	if d.Work != nil {
		work := *d.Work
		d.Work = &work
	}
	return &d
}

// readTips lists the lines, with what their newest checkpoints tell. A checkpoint never changes, so that one that was
// read is not read again. An answer about one session needs those of all others, and a search asks about each session.
func (s *Sessions) readTips(ctx context.Context) (tips []operation.LineTip, known map[string]*tipRecord, err error) {
	s.mu.Lock()
	before := s.tips
	s.mu.Unlock()
	tips, err = s.lines.Tips(ctx, func(id string) bool { return before[id] != nil })
	if err != nil {
		return nil, nil, err
	}
	known = make(map[string]*tipRecord, len(tips))
	for _, tip := range tips {
		if tip.Err != nil {
			continue
		}
		if known[tip.ID] = before[tip.ID]; known[tip.ID] == nil {
			known[tip.ID] = s.readTip(ctx, tip.Event)
		}
	}
	s.keepTips(&s.tips, known)
	return tips, known, nil
}

func (s *Sessions) readTip(ctx context.Context, e *operation.LineEvent) *tipRecord {
	t := &tipRecord{at: e.At(), open: e.Author != AuthorAgent} // who ends a step
	t.digest, t.err = s.digestOf(ctx, e)
	return t
}

// keepTips keeps records for the next answer, but for those that could not be read.
func (s *Sessions) keepTips(in *map[string]*tipRecord, known map[string]*tipRecord) {
	keep := maps.Clone(known)
	maps.DeleteFunc(keep, func(_ string, t *tipRecord) bool { return t.err != nil })
	s.mu.Lock()
	defer s.mu.Unlock()
	*in = keep
}

// digestOf finds the newest digest of a line. States saved before a revert have none.
func (s *Sessions) digestOf(ctx context.Context, tip *operation.LineEvent) (*digest, error) {
	for e, err := range s.lines.Back(ctx, tip.ID) {
		if errors.Is(err, cairn.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		rec, err := s.decode(e)
		if err != nil {
			return nil, err
		}
		if rec.Now.ID != "" {
			return &rec.Now, nil
		}
	}
	return nil, nil
}
