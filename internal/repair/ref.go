package repair

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/reach"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/thinned"
)

// refsInOrder lists the refs, lines first: a checkpoint that several refs reach belongs to its
// line.
func (m *mender) refsInOrder() ([]odb.Ref, error) {
	refs, err := m.repo.DB.Refs("refs/")
	rank := func(ref odb.Ref) int {
		if ref.Name == thinned.Ref { // it holds what lines have lost, so lines are rewritten before
			return math.MaxInt
		}
		return slices.IndexFunc([]string{history.RefTracks, history.RefSessions, history.RefLost, ""}, func(prefix string) bool { return strings.HasPrefix(ref.Name, prefix) })
	}
	slices.SortStableFunc(refs, func(a, b odb.Ref) int { return cmp.Compare(rank(a), rank(b)) })
	return refs, err
}

// anyRef returns the new value of a ref; zero means that the ref is deleted.
func (m *mender) anyRef(ctx context.Context, ref odb.Ref) (object.ID, error) {
	if ref.Name == thinned.Ref {
		return m.thinnedRef(ctx, ref)
	}
	return m.ref(ctx, ref)
}

// ref returns the new value of a ref to a state; zero means that the ref is deleted.
func (m *mender) ref(ctx context.Context, ref odb.Ref) (object.ID, error) {
	m.line = ref.Name
	defer func() { m.line = "" }()
	kind, _, ok, err := m.read(ref.ID)
	switch {
	case err != nil:
		return ref.ID, err
	case ok && kind == object.Blob:
		return ref.ID, nil
	case ok && kind == object.Tree:
		return m.refToTree(ctx, ref)
	case ok && kind == object.Tag:
		return ref.ID, nil // no release of cairn makes a tag
	case !ok && ofCache(ref.Name):
		return object.ID{}, nil
	}
	m.operations[ref.ID] = ref.Name == history.RefOperations
	now, ok, err := m.commit(ctx, ref.ID)
	if err != nil || ok {
		return now, err
	}
	switch {
	case ofCache(ref.Name) || ref.Name == history.RefBefore:
		return object.ID{}, nil
	case ref.Name == history.RefOperations:
		now, ok, err = m.operationBefore(ctx, ref.ID, endOfTime)
	case strings.HasPrefix(ref.Name, history.RefPins): // a pin names one state only
	default:
		now, ok, err = m.wholeBefore(ctx, ref.ID, endOfTime)
	}
	if err != nil {
		return ref.ID, err
	}
	l := history.Loss{
		Kind: "ref", Ref: ref.Name, Checkpoint: ref.ID.String(),
		Text: history.LineText(ref.Name) + " ended with " + ref.ID.String(),
	}
	if ok {
		l.Now = now.String()
		l.Text += " and ends with " + l.Now + " now"
	} else {
		now = object.ID{}
		l.Text += " and is gone"
	}
	m.gone = append(m.gone, l)
	return now, nil
}

// endOfTime is later than every commit.
var endOfTime = time.Unix(1<<62, 0)

// ofCache reports whether a ref names the tree of a last capture. It only serves the stat cache, so a
// damaged one is dropped and is no loss.
func ofCache(ref string) bool { return ref == history.RefDisk || ref == history.RefHeld }

// refToTree returns the tree without its lost paths.
func (m *mender) refToTree(ctx context.Context, ref odb.Ref) (object.ID, error) {
	loss, err := m.tree(ctx, ref.ID, "")
	if err != nil || !loss.itself && len(loss.paths) == 0 {
		return ref.ID, err
	}
	if ofCache(ref.Name) || loss.itself {
		return object.ID{}, nil
	}
	if m.dry() {
		return ref.ID, nil
	}
	s, err := m.state(ref.ID, loss)
	if err != nil {
		return ref.ID, err
	}
	return s.ID, nil
}

// wholeBefore returns the newest whole checkpoint before one that cannot stay. If a commit on the
// way is lost, its ancestors are unknown, and the search goes on among the strays.
func (m *mender) wholeBefore(ctx context.Context, id object.ID, before time.Time) (now object.ID, ok bool, err error) {
	for {
		c, err := m.parsed(id)
		if err != nil {
			return id, false, err
		}
		if c == nil {
			return m.stray(ctx, before)
		}
		if len(c.Parents) == 0 || m.repo.DB.EndsLine(id) {
			return id, false, nil
		}
		before = fineTime(c)
		id = c.Parents[0]
		if now, ok, err := m.commit(ctx, id); err != nil || ok {
			return now, ok, err
		}
	}
}

// operationBefore returns the operation, or the newest one before it that can stay.
func (m *mender) operationBefore(ctx context.Context, id object.ID, before time.Time) (now object.ID, ok bool, err error) {
	for {
		m.operations[id] = true
		if now, ok, err := m.commit(ctx, id); err != nil || ok {
			return now, ok, err
		}
		c, err := m.parsed(id)
		if err != nil {
			return id, false, err
		}
		if c == nil {
			return m.strayOperation(ctx, before)
		}
		if len(c.Parents) < 3 || m.repo.DB.EndsLine(id) {
			return id, false, nil
		}
		before = fineTime(c)
		id = c.Parents[0]
	}
}

// aside puts the part of a line that ends at the commit under a ref of its own.
func (m *mender) aside(ctx context.Context, id object.ID, first bool, before time.Time) error {
	now, ok, err := m.commit(ctx, id)
	if err == nil && !ok && first {
		now, ok, err = m.wholeBefore(ctx, id, before)
	}
	if err != nil || !ok {
		return err
	}
	name := history.RefLost + strings.ReplaceAll(strings.TrimPrefix(m.line, history.RefRoot), "/", "-") + "-" + now.String()[:history.BeginningDigits]
	if _, known := m.asides[name]; known {
		return nil
	}
	m.asides[name] = now
	m.gone = append(m.gone, history.Loss{Kind: "aside", Ref: name, Checkpoint: now.String(),
		Text: history.LineText(m.line) + " is cut where a checkpoint was lost; what came before is set aside as " + name})
	return nil
}

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
