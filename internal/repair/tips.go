package repair

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/reach"
	"github.com/seed-fb9cbc17/cairn/internal/thinned"
)

// findTips sets each line whose ref was torn to its newest stray checkpoint. A value that came back
// from the packed refs may be older than that.
func (m *mender) findTips(ctx context.Context) error {
	moved := false
	for _, name := range m.torn {
		if m.dry() || name != thinned.Ref && !strings.HasPrefix(name, history.RefTracks) && !strings.HasPrefix(name, history.RefSessions) && name != history.RefOperations {
			continue // other refs name a single state, and it is not known which
		}
		tipOf := m.tipOf
		if name == thinned.Ref {
			tipOf = m.listOf
		}
		id, found, err := tipOf(ctx, name)
		if err != nil {
			return err
		}
		if found {
			moved = true
			if err := m.repo.DB.SetRef(name, id); err != nil {
				return err
			}
		}
	}
	if !moved {
		return nil
	}
	m.reset()
	m.looked, m.strays = false, nil
	return m.walk(ctx)
}

// tipOf returns the newest stray of a line, unless it is older than the ref's present value.
func (m *mender) tipOf(ctx context.Context, name string) (id object.ID, found bool, err error) {
	if err := m.findStrays(ctx); err != nil {
		return id, false, err
	}
	since, err := m.timeOf(name)
	if err != nil {
		return id, false, err
	}
	m.line = name
	defer func() { m.line = "" }()
	for _, s := range m.strays {
		of := m.ofLine(s)
		if name == history.RefOperations {
			of = isOperation(s.data)
		}
		if of && !fineTime(s.data).Before(since) {
			return s.id, true, nil
		}
	}
	return id, false, nil
}

// listOf returns the newest list of thinned checkpoints.
func (m *mender) listOf(ctx context.Context, _ string) (id object.ID, found bool, err error) {
	all, err := reach.Commits(ctx, m.repo.DB)
	if err != nil {
		return id, false, err
	}
	var newest *object.CommitData
	for _, one := range all {
		c, err := m.parsed(one)
		if err != nil {
			return id, false, err
		}
		if c == nil || !thinned.IsList(c) {
			continue
		}
		if newest == nil || newest.Committer.When.Before(c.Committer.When) {
			id, newest = one, c
		}
	}
	return id, newest != nil, nil
}

// fineTime is the time of a commit, as fine as it is known.
func fineTime(c *object.CommitData) time.Time { return time.Unix(0, history.TimeOf(c)) }

// timeOf returns the time of the commit that a ref names, zero if it names none.
func (m *mender) timeOf(name string) (when time.Time, err error) {
	id, err := m.repo.DB.Ref(name)
	if errors.Is(err, odb.ErrNotFound) {
		return when, nil
	}
	if err != nil {
		return when, err
	}
	c, err := m.parsed(id)
	if c != nil {
		when = fineTime(c)
	}
	return when, err
}
