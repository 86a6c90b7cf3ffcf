package repair

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
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
	case !ok && ofList(ref.Name):
		m.refEnds(ref, object.ID{})
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
	if !ok {
		now = object.ID{}
	}
	m.refEnds(ref, now)
	return now, nil
}

// ofList reports whether a ref names a blob: signed statements, or the results of tests. There is no other one before it.
func ofList(ref string) bool {
	return strings.HasPrefix(ref, history.RefSignatures) || ref == history.RefTests
}

// refEnds records where a ref leads now; zero means that it is deleted.
func (m *mender) refEnds(ref odb.Ref, now object.ID) {
	l := history.Loss{
		Kind: "ref", Ref: ref.Name, Checkpoint: ref.ID.String(),
		Text: history.LineText(ref.Name) + " ended with " + ref.ID.String(),
	}
	if now.IsZero() {
		l.Text += " and is gone"
	} else {
		l.Now = now.String()
		l.Text += " and ends with " + l.Now + " now"
	}
	m.gone = append(m.gone, l)
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
