package repair

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/reach"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// stray is an unreachable commit. It may be an ancestor of a lost one.
type stray struct {
	id   object.ID
	data *object.CommitData
	line string // line of its session; "" = none
	used bool
}

// findStrays lists the unreachable commits, newest first. Commits that retention has cut off,
// and replaced ones, are left out.
func (m *mender) findStrays(ctx context.Context) error {
	if m.looked {
		return nil
	}
	m.looked = true
	all, err := reach.Commits(ctx, m.repo.DB)
	if err != nil {
		return err
	}
	cutOff, err := m.cutOff(ctx)
	if err != nil {
		return err
	}
	replaced := m.repo.ReadReplaced() // a replaced commit lives on under another id
	for _, id := range all {
		if _, was := replaced[id]; was || m.reached[id] || cutOff[id] {
			continue
		}
		c, err := m.parsed(id)
		if err != nil {
			return err
		}
		if c != nil && c.Header(state.MetadataHeader) != "" && !m.purged(c.Tree) {
			m.strays = append(m.strays, &stray{id: id, data: c, line: m.sessionOf(c)})
		}
	}
	sortStrays(m.strays)
	return nil
}

// sortStrays sorts the newest first. Among commits of equal time, one that is no other's parent is
// the newest.
func sortStrays(strays []*stray) {
	goneOn := make(map[object.ID]bool)
	for _, s := range strays {
		for _, p := range s.data.Parents {
			goneOn[p] = true
		}
	}
	slices.SortStableFunc(strays, func(a, b *stray) int {
		switch c := fineTime(b.data).Compare(fineTime(a.data)); {
		case c != 0 || goneOn[a.id] == goneOn[b.id]:
			return c
		case goneOn[a.id]:
			return 1
		}
		return -1
	})
}

// cutOff returns the commits before the ends of lines: they were removed on purpose.
func (m *mender) cutOff(ctx context.Context) (map[object.ID]bool, error) {
	ends, err := m.repo.DB.Shallow()
	if err != nil {
		return nil, err
	}
	off := make(map[object.ID]bool)
	var queue []object.ID
	next := func(id object.ID) error {
		c, err := m.parsed(id)
		if c != nil {
			queue = append(queue, c.Parents...)
		}
		return err
	}
	for _, id := range ends {
		if err := next(id); err != nil {
			return nil, err
		}
	}
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if off[id] {
			continue
		}
		off[id] = true
		if err := errors.Join(ctx.Err(), next(id)); err != nil {
			return nil, err
		}
	}
	return off, nil
}

// purged reports whether a state holds a purged path. Such a state must not come back.
func (m *mender) purged(tree object.ID) bool {
	purged, err := m.repo.PurgedPaths()
	if err != nil {
		return true // it may hold one
	}
	for _, path := range purged {
		if filepath.IsAbs(path) {
			continue // outside the root
		}
		if e, err := m.repo.EntryOrNil(tree, path); err != nil || e != nil {
			return true
		}
	}
	return false
}

// sessionOf returns the line that a checkpoint of a session names. A state that was saved before a
// revert names none; the next older checkpoint does.
func (m *mender) sessionOf(c *object.CommitData) string {
	for c != nil && c.Header(history.LineHeader) != "" {
		var line history.LineRecord
		var record struct{ Now struct{ ID string } }
		if json.Unmarshal([]byte(c.Header(history.LineHeader)), &line) != nil {
			return ""
		}
		if json.Unmarshal(line.Record, &record) == nil && record.Now.ID != "" {
			return history.LineRef(record.Now.ID)
		}
		if len(c.Parents) == 0 {
			return ""
		}
		c, _ = m.parsed(c.Parents[0])
	}
	return ""
}

// stray returns the newest stray of the line that is being rewritten.
func (m *mender) stray(ctx context.Context, before time.Time) (object.ID, bool, error) {
	return m.newestStray(ctx, func(s *stray) bool { return !fineTime(s.data).After(before) && m.ofLine(s) })
}

// ofLine reports whether a stray belongs to the line that is being rewritten. A checkpoint without
// a session belongs to its day.
func (m *mender) ofLine(s *stray) bool {
	if isOperation(s.data) {
		return false
	}
	if day, isDay := strings.CutPrefix(m.line, history.RefTracks); isDay {
		return s.data.Header(history.LineHeader) == "" && fineTime(s.data).UTC().Format(time.DateOnly) == day
	}
	return s.line != "" && s.line == m.line
}

func (m *mender) strayOperation(ctx context.Context, before time.Time) (object.ID, bool, error) {
	return m.newestStray(ctx, func(s *stray) bool { return isOperation(s.data) && !fineTime(s.data).After(before) })
}

func (m *mender) newestStray(ctx context.Context, fits func(*stray) bool) (object.ID, bool, error) {
	if err := m.findStrays(ctx); err != nil {
		return object.ID{}, false, err
	}
	for _, s := range m.strays {
		if s.used || m.reached[s.id] || !fits(s) {
			continue
		}
		s.used = true
		if err := m.reach(ctx, s.id); err != nil {
			return object.ID{}, false, err
		}
		if now, ok, err := m.commit(ctx, s.id); err != nil || ok {
			return now, ok, err
		}
	}
	return object.ID{}, false, nil
}
