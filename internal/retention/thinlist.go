package retention

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/thinned"
)

// thinList is the list of thinned checkpoints as it will be. A nil thinList leaves the list as it is.
type thinList struct {
	records map[object.ID]*thinned.Record
	kept    []object.ID // commits with states that only the list keeps alive
}

// has reports whether the list will have a commit.
func (l *thinList) has(id object.ID) bool { return l != nil && l.records[id] != nil }

// roots returns what the list keeps alive in a dry run: the present list stands for the later one.
func (l *thinList) roots(now *thinned.Table) (ids []object.ID) {
	if l == nil {
		return nil
	}
	ids = slices.Clone(l.kept)
	if id := now.Tree(); !id.IsZero() {
		ids = append(ids, id)
	}
	return ids
}

// dropThinned removes the thinned units that are older than the oldest unit with a state, on a line that
// loses its oldest part.
func (s *survey) dropThinned() {
	for _, t := range s.tips {
		units := s.line(t)
		cut := slices.IndexFunc(units, func(u *unit) bool { return u.dead && !u.gone() })
		if cut < 0 {
			continue
		}
		for cut > 0 && units[cut-1].gone() {
			cut--
		}
		for _, u := range units[cut:] {
			if u.gone() {
				u.dead = true
			}
		}
	}
}

// gone reports whether the state of a unit is gone, or goes.
func (u *unit) gone() bool { return u.thin || u.thinned }

// listThinned makes the list of thinned checkpoints. live are the commits that stay objects.
func (s *survey) listThinned(v *verdict, live map[object.ID]bool) error {
	if s.torn {
		return nil
	}
	l := &thinList{records: make(map[object.ID]*thinned.Record)}
	for id, u := range s.owned {
		if !u.dead && u.gone() && u.ids[0] == id {
			rec, err := s.record(id, u)
			if err != nil {
				return err
			}
			l.records[id] = rec
		}
	}
	kept := make(map[object.ID]bool)
	for id, rec := range l.records {
		end := rec.End || !rec.Parent().IsZero() // unless one of the parents stays, and counts
		for _, p := range s.Known[id].Parents {
			stays := live[p] || s.Known[p] == nil // no decision is made about a commit that cannot be read
			kept[p] = kept[p] || stays
			end = end && l.records[p] == nil && !stays
		}
		l.records[id] = rec.Ended(end)
	}
	for id := range live {
		s.bridge(v, l, live, id, kept)
	}
	for _, id := range s.left {
		kept[id] = kept[id] || live[id] || s.Known[id] == nil
	}
	for id, keep := range kept {
		if keep {
			l.kept = append(l.kept, id)
		}
	}
	v.list = l
	return nil
}

// bridge ends a line for git before a commit that follows a thinned one. The list keeps alive what lies
// beside.
func (s *survey) bridge(v *verdict, l *thinList, live map[object.ID]bool, id object.ID, kept map[object.ID]bool) {
	n := s.Known[id]
	if n == nil || len(n.Parents) == 0 || l.records[n.Parents[0]] == nil {
		return
	}
	v.cut = append(v.cut, id)
	for _, p := range n.Parents[1:] {
		kept[p] = kept[p] || live[p]
	}
}

// record returns the record of a thinned commit, or makes it.
func (s *survey) record(id object.ID, u *unit) (*thinned.Record, error) {
	n := s.Known[id]
	if n.thinned != nil {
		return n.thinned, nil
	}
	if n.record == nil {
		_, data, err := s.repo.DB.Read(id)
		if err != nil {
			return nil, fmt.Errorf("checkpoint %s: %w", id, err)
		}
		n.record = &thinned.Record{At: s.repo.Now().Unix(), Rule: u.rule, Commit: data}
		if u.nearest != nil {
			n.record.Nearest = u.nearest.ids[0]
		}
	}
	return n.record, nil
}

// overtaken returns the verdict again where the store has moved since the survey. A checkpoint that
// has got a name meanwhile, on which a line goes on, or whose tests passed, keeps its state. If the list
// has changed, nothing is thinned.
func (r *Cleaner) overtaken(ctx context.Context, s *survey, v *verdict) (*verdict, error) {
	if v.list == nil {
		return v, nil
	}
	now, err := thinned.Read(r.DB, s.table)
	if err != nil || now.ID() != s.table.ID() {
		r.Log.Warn("nothing is thinned: the list of thinned checkpoints has changed or cannot be read", "error", err)
		s.thinNone()
		if v, err = s.judge(ctx); v != nil {
			v.list = nil
		}
		return v, err
	}
	if v.thinned == 0 {
		return v, nil
	}
	needed, err := s.reachedSince(ctx)
	if err == nil {
		err = s.keepGreen(ctx, needed)
	}
	if err != nil {
		return nil, err
	}
	again := false
	for id := range needed {
		again = s.spareThin(id) || again
	}
	if !again {
		return v, nil
	}
	s.keepBeside()
	return s.judge(ctx)
}

func (s *survey) thinNone() {
	for _, u := range s.owned {
		u.thin = false
	}
}

// reachedSince returns the commits of the survey to which refs lead that have moved since.
func (s *survey) reachedSince(ctx context.Context) (map[object.ID]bool, error) {
	refs, err := s.repo.DB.Refs(history.RefRoot)
	if err != nil {
		return nil, err
	}
	var stack []object.ID
	for _, ref := range refs {
		if ref.Err == nil && ref.Name != thinned.Ref && !isRecord(ref.Name) && s.refs[ref.Name] != ref.ID {
			stack = append(stack, ref.ID)
		}
	}
	reached, seen := make(map[object.ID]bool), make(map[object.ID]bool)
	for len(stack) > 0 {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if s.Known[id] != nil {
			reached[id] = true
			continue
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c, err := s.repo.ReadCheckpoint(id); err == nil {
			stack = append(stack, history.CommitOf(c).Parents...)
		}
	}
	return reached, nil
}

// prepareThinned writes the objects of the list before the hold of the lock in which the list moves, so that
// a capture does not wait for thousands of records. A list that has changed is left to overtaken.
func (r *Cleaner) prepareThinned(ctx context.Context, s *survey, v *verdict) error {
	if v.list == nil || v.thinned == 0 {
		return nil
	}
	batch := r.DB.NewBatch()
	defer batch.Discard()
	if _, err := thinned.Add(batch, v.list.records, v.list.kept); err != nil {
		return err
	}
	return r.Exclusive(ctx, func(*history.Locked) error {
		if now, err := thinned.Read(r.DB, s.table); err != nil || now.ID() != s.table.ID() {
			return nil
		}
		return batch.Commit()
	})
}

// writeThinned writes the list of thinned checkpoints before anything that it replaces goes.
func (r *Cleaner) writeThinned(s *survey, v *verdict) error {
	if v.list == nil {
		return nil
	}
	batch := r.DB.NewBatch()
	defer batch.Discard()
	id, err := thinned.Add(batch, v.list.records, v.list.kept)
	if err != nil || id == s.table.ID() {
		return err
	}
	if id.IsZero() {
		err = r.DB.DropRef(thinned.Ref)
	} else {
		err = batch.Commit(odb.RefUpdate{Name: thinned.Ref, ID: id})
	}
	if err != nil {
		return err
	}
	s.table, err = thinned.Read(r.DB, nil)
	return err
}
