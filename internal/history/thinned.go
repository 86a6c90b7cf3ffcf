package history

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/thinned"
)

// Thinning says that a cleaning has dropped the state of a checkpoint and kept another one in its place.
type Thinning struct {
	When    time.Time `json:"time"`
	Rule    string    `json:"rule" doc:"Of Retention.Keep: hourly or daily."`
	Nearest string    `json:"nearest,omitempty" doc:"Id of the checkpoint that was kept in its place, absent if that is gone, too."`
}

// ErrThinned is the error of a command that needs the state of a thinned checkpoint. It wraps
// state.ErrNotFound.
var ErrThinned = fmt.Errorf("%w: its state was thinned", state.ErrNotFound)

// ThinnedError is an ErrThinned with the checkpoint in question.
type ThinnedError struct {
	ID string // of the checkpoint
	Thinning
}

// Error says when and by which rule, and which checkpoint is nearest.
func (e *ThinnedError) Error() string {
	text := fmt.Sprintf("%s: checkpoint %s was thinned on %s by keep.%s", state.ErrNotFound, e.ID, e.When.UTC().Format(time.DateOnly), e.Rule)
	if e.Nearest == "" {
		return text
	}
	return text + "; nearest kept: " + e.Nearest
}

// Unwrap returns ErrThinned.
func (e *ThinnedError) Unwrap() error { return ErrThinned }

// thinnedError is the error of a command that needs the state, nil if that is there.
func (c *Checkpoint) thinnedError() error {
	if c == nil || c.Thinned == nil {
		return nil
	}
	return &ThinnedError{ID: c.ID, Thinning: *c.Thinned}
}

// Before returns the commit before a checkpoint on its line, thinned or not, zero for the first one.
func Before(c *Checkpoint) object.ID { return c.before }

// ThinnedTable reads the list of thinned checkpoints, nil for none. A list that cannot be read is logged
// and counts as none: lines then end where it would go on.
func (r *Store) ThinnedTable() *thinned.Table {
	t, err := thinned.Read(r.DB, r.thinned.Load())
	if err != nil {
		r.Log.Warn("lines end where checkpoints were thinned", "error", err)
		return nil
	}
	if t != nil {
		r.thinned.Store(t)
	}
	return t
}

// Ends tells where lines end, at one time.
type Ends struct {
	cut     odb.Ends
	thinned *thinned.Table
}

// Ends reads where lines end. Without a shallow file nothing was thinned, or damage has taken the file.
func (r *Store) Ends() Ends {
	e := Ends{cut: r.DB.Ends()}
	if len(e.cut) > 0 {
		e.thinned = r.ThinnedTable()
	}
	return e
}

// EndsBy is Ends with a list of thinned checkpoints, nil for none.
func (r *Store) EndsBy(table *thinned.Table) Ends { return Ends{cut: r.DB.Ends(), thinned: table} }

// Has reports whether the parents of a commit do not count. Those of a commit after thinned ones do.
func (e Ends) Has(id object.ID, parents []object.ID) bool {
	if e.cut.Has(id) {
		return len(parents) == 0 || !e.thinned.Has(parents[0])
	}
	return false
}

// Thinned returns the record of a thinned commit, nil for another one or one that cannot be read.
func (e Ends) Thinned(id object.ID) *thinned.Record {
	if !e.thinned.Has(id) {
		return nil
	}
	rec, err := e.thinned.Get(id)
	if err != nil {
		return nil
	}
	return rec
}

// EndsLine reports whether the parents of a commit do not count.
func (r *Store) EndsLine(id object.ID, parents []object.ID) bool { return r.Ends().Has(id, parents) }

// kept goes back from a commit over thinned ones to one whose state is there. It returns zero if the
// line ends before one, and the number of thinned ones.
func (r *Store) kept(e Ends, id object.ID) (object.ID, int) {
	oldest, n := e.thinned.Run(id)
	if n == 0 {
		return id, 0
	}
	rec := e.Thinned(oldest)
	if rec == nil {
		return object.ID{}, n
	}
	return r.BeforeThinned(e, rec), n
}

// BeforeThinned returns the commit before a thinned one on its line, zero where the line ends. A repair
// that rewrites the commit before a thinned one leaves the bytes of the thinned one as they are.
func (r *Store) BeforeThinned(e Ends, rec *thinned.Record) object.ID {
	id := rec.Parent()
	if id.IsZero() || e.thinned.Has(id) || e.thinned.Keeps(id) {
		return id
	}
	return r.replacementOf(id)
}

// Present returns the id of a commit, or of that which has replaced it, zero for one that is gone.
func (r *Store) Present(id object.ID) object.ID {
	if ok, err := r.DB.Has(id); ok || err != nil {
		return id
	}
	return r.replacementOf(id)
}

// setBefore sets what comes before a checkpoint on its line: the commit itself, and the next one whose
// state is there.
func (r *Store) setBefore(c *Checkpoint, e Ends) {
	parents := c.commit.Parents
	c.commit.Parents = nil
	switch rec := e.Thinned(c.id); {
	case rec != nil:
		c.Thinned, c.before = r.thinnedOf(e, rec), r.BeforeThinned(e, rec)
	case len(parents) > 0 && !e.Has(c.id, parents): // else cleaned away
		c.before = parents[0]
	}
	if c.before.IsZero() {
		return
	}
	first, n := r.kept(e, c.before)
	if c.ThinnedBefore = n; first.IsZero() {
		return
	}
	c.Parent = first.String()
	c.commit.Parents = append([]object.ID{first}, parents[1:]...)
}

// thinnedOf returns a record for callers, with the checkpoint that is nearest now.
func (r *Store) thinnedOf(e Ends, rec *thinned.Record) *Thinning {
	t := &Thinning{When: time.Unix(rec.At, 0).UTC(), Rule: rec.Rule}
	seen := make(map[object.ID]bool) // a damaged list may lead in a circle
	for next := rec; next != nil && !seen[next.Nearest]; {
		id := next.Nearest
		seen[id] = true
		if next = e.Thinned(id); next == nil {
			if id = r.Present(id); !id.IsZero() {
				t.Nearest = id.String()
			}
		}
	}
	return t
}

// readCommit reads an object, or the bytes of a thinned commit. The list may be newer than e.
func (r *Store) readCommit(e Ends, id object.ID) (object.Kind, []byte, error) {
	kind, data, err := r.DB.Read(id)
	if !errors.Is(err, odb.ErrNotFound) {
		return kind, data, err
	}
	rec, gone := e.thinned.Get(id)
	if errors.Is(gone, odb.ErrNotFound) {
		rec, gone = r.ThinnedTable().Get(id)
	}
	switch {
	case errors.Is(gone, odb.ErrNotFound):
		return 0, nil, err
	case gone != nil:
		return 0, nil, gone
	}
	return object.Commit, rec.Commit, nil
}

// thinnedWith finds the thinned checkpoint of the commit whose id begins with a text or, if there is none, the newest
// one of the tree. It returns nil where there is neither. Several commits or trees are ErrAmbiguous.
func (r *Store) thinnedWith(prefix string) (*Checkpoint, error) {
	e := r.Ends()
	ids, err := e.thinned.IDs(prefix)
	switch {
	case err != nil:
		return nil, err
	case len(ids) > 1:
		return nil, couldBe(prefix, ids[0].String(), ids[1].String())
	case len(ids) == 1:
		return r.readBy(ids[0], e)
	}
	return r.thinnedWithTree(e, prefix)
}

func (r *Store) thinnedWithTree(e Ends, prefix string) (newest *Checkpoint, err error) {
	all, err := e.thinned.IDs("")
	if err != nil {
		return nil, err
	}
	for _, id := range all {
		c, err := r.readBy(id, e)
		switch {
		case err != nil:
			return nil, err
		case !strings.HasPrefix(c.Hash, prefix):
		case newest == nil:
			newest = c
		case newest.Hash != c.Hash:
			return nil, couldBe(prefix, newest.ID, c.ID)
		case newest.at < c.at:
			newest = c
		}
	}
	return newest, nil
}
