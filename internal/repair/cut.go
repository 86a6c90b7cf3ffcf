package repair

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/purge"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// cut removes the lost objects from the history. It removes nothing that is whole.
func (m *mender) cut(ctx context.Context) error {
	r := m.repo
	if !m.dry() {
		m.batch = r.DB.NewBatch()
		defer m.batch.Discard()
	}
	refs, err := m.refsInOrder()
	if err != nil {
		return err
	}
	w := purge.Rewritten{Commits: m.commits, Replaced: make(map[object.ID]object.ID)}
	for _, ref := range refs {
		if ref.Err != nil {
			continue
		}
		now, err := m.anyRef(ctx, ref)
		if err != nil {
			return fmt.Errorf("%s: %w", ref.Name, err)
		}
		if now.IsZero() {
			w.Dropped = append(w.Dropped, ref.Name)
		} else {
			w.Refs = append(w.Refs, odb.Ref{Name: ref.Name, ID: now})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.asides)) {
		w.Refs = append(w.Refs, odb.Ref{Name: name, ID: m.asides[name]})
	}
	m.tellPaths()
	if m.dry() {
		return nil
	}
	w.Ends = m.ends
	for old, now := range m.commits {
		if now != old && !now.IsZero() {
			w.Replaced[old] = now
		}
	}
	for old, s := range m.states {
		if s.ID != old {
			w.Replaced[old] = s.ID
		}
	}
	if w.Journals, err = r.JournalsNaming(func(text string) (string, error) { return m.mentions(ctx, text) }); err != nil {
		return err
	}
	return r.ReplaceHistory(ctx, m.lock, m.batch, w, func() error { return r.RecordLosses(m.lock, m.gone) })
}

// commit rewrites a commit after its parents and the commits that it names. ok is false for a
// commit that cannot stay: it or its state is lost, or it cannot record its losses.
func (m *mender) commit(ctx context.Context, id object.ID) (now object.ID, ok bool, err error) {
	if now, known := m.commits[id]; known {
		return now, !now.IsZero(), nil
	}
	if err := ctx.Err(); err != nil {
		return id, false, err
	}
	c, err := m.parsed(id)
	if err != nil {
		return id, false, err
	}
	var why string
	if c == nil {
		why = "is lost"
	} else if now, why, err = m.rewrite(ctx, id, c); err != nil {
		return id, false, fmt.Errorf("checkpoint %s: %w", id, err)
	}
	if why != "" {
		now = object.ID{}
		m.tell(id, c, why)
	}
	m.commits[id] = now
	return now, why == "", nil
}

// parsed reads a commit. It returns nil if the commit is lost or malformed.
func (m *mender) parsed(id object.ID) (*object.CommitData, error) {
	kind, content, ok, err := m.read(id)
	if err != nil || !ok || kind != object.Commit {
		return nil, err
	}
	c, err := object.ParseCommit(content)
	if err != nil {
		return nil, nil
	}
	return c, nil
}

// rewrite returns the new id of a commit, or the reason why it cannot stay.
func (m *mender) rewrite(ctx context.Context, id object.ID, c *object.CommitData) (now object.ID, why string, err error) {
	loss, err := m.tree(ctx, c.Tree, "")
	if err != nil {
		return id, "", err
	}
	if loss.itself {
		return id, "its state is lost", nil
	}
	changed, why := false, ""
	ended := m.repo.DB.EndsLine(id)
	switch {
	case ended:
	case isOperation(c):
		changed, why, err = m.operationParents(ctx, c)
	default:
		changed, ended, err = m.lineParents(ctx, c)
	}
	if err != nil || why != "" {
		return id, why, err
	}
	if len(loss.paths) > 0 {
		if why, err = m.withoutLost(id, c, loss); err != nil || why != "" {
			return id, why, err
		}
		changed = true
	}
	for i := range c.Extra {
		h := &c.Extra[i]
		if h.Key == state.MetadataHeader {
			continue
		}
		was := h.Value
		if h.Value, err = m.mentions(ctx, was); err != nil {
			return id, "", err
		}
		changed = changed || was != h.Value
	}
	now = id
	if changed && !m.dry() {
		out, err := object.AppendCommit(nil, c)
		if err != nil {
			return id, "", err
		}
		if now, err = m.batch.Add(object.Commit, out); err != nil {
			return id, "", err
		}
	}
	if ended && !m.repo.DB.EndsLine(id) {
		m.ends = append(m.ends, now)
	}
	return now, "", nil
}

func isOperation(c *object.CommitData) bool {
	return c.Header(history.OperationHeader) != "" && len(c.Parents) >= 2
}

// lineParents rewrites the parents of a checkpoint. If a parent cannot stay, the line is cut: the
// checkpoint keeps the parent ids and becomes the beginning of its line. The whole checkpoints
// before it are set aside.
func (m *mender) lineParents(ctx context.Context, c *object.CommitData) (changed, cut bool, err error) {
	parents := slices.Clone(c.Parents)
	for i, p := range parents {
		now, ok, err := m.commit(ctx, p)
		if err != nil {
			return false, false, err
		}
		cut = cut || !ok
		changed = changed || ok && now != p
		if ok {
			parents[i] = now
		}
	}
	if !cut {
		c.Parents = parents
		return changed, false, nil
	}
	for i, p := range c.Parents {
		if err := m.aside(ctx, p, i == 0, fineTime(c)); err != nil {
			return false, false, err
		}
	}
	return false, true, nil
}

// operationParents rewrites the parents of an operation: the operation before it, if any, and the
// states before and after it. An operation that cannot stay is removed from the list of operations.
func (m *mender) operationParents(ctx context.Context, c *object.CommitData) (changed bool, why string, err error) {
	n := len(c.Parents)
	parents := make([]object.ID, 0, n)
	if n > 2 {
		before, ok, err := m.operationBefore(ctx, c.Parents[0], fineTime(c))
		if err != nil {
			return false, "", err
		}
		if ok {
			parents = append(parents, before)
		}
	}
	for _, p := range c.Parents[n-2:] {
		now, ok, err := m.commit(ctx, p)
		if err != nil {
			return false, "", err
		}
		if !ok {
			return false, "a state that it names is lost", nil
		}
		parents = append(parents, now)
	}
	changed = !slices.Equal(parents, c.Parents)
	c.Parents = parents
	return changed, "", nil
}

// mentions replaces the ids in a text that belong to rewritten commits or states. The id of a lost
// commit stays: the commit that names it is still listed.
func (m *mender) mentions(ctx context.Context, text string) (string, error) {
	return purge.ReplaceIDs(text, func(id object.ID) (object.ID, error) {
		if s := m.states[id]; s != nil {
			return s.ID, nil
		}
		if c, err := m.parsed(id); err != nil || c == nil || !m.reached[id] {
			return id, err
		}
		now, ok, err := m.commit(ctx, id)
		if err != nil || !ok {
			return id, err
		}
		return now, nil
	})
}

// tell records the loss of a commit.
func (m *mender) tell(id object.ID, c *object.CommitData, why string) {
	l := history.Loss{Kind: "checkpoint", Ref: m.line, Checkpoint: id.String()}
	what := "checkpoint " + id.String()
	if m.operations[id] {
		l.Kind, what = "operation", "operation "+id.String()
	}
	if c != nil {
		what += " of " + c.Committer.When.UTC().Format(time.DateTime)
	}
	l.Text = what + " " + why
	m.gone = append(m.gone, l)
}

// tellPaths records the lost paths with their checkpoints.
func (m *mender) tellPaths() {
	for _, path := range slices.Sorted(maps.Keys(m.paths)) {
		ids := m.paths[path].ids
		l := history.Loss{Kind: "path", Path: state.Path(path)}
		for _, id := range ids {
			now := m.commits[id]
			if now.IsZero() {
				continue // the whole checkpoint is lost
			}
			l.Checkpoints = append(l.Checkpoints, now.String())
		}
		if len(l.Checkpoints) == 0 {
			continue
		}
		l.Checkpoint = l.Checkpoints[len(l.Checkpoints)-1]
		l.Text = history.LossOfPath(path, l.Checkpoints)
		m.gone = append(m.gone, l)
	}
}
