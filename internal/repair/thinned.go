package repair

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/thinned"
)

// thinnedRef returns the list of thinned checkpoints without what is lost of it. Where a record or a kept
// checkpoint is lost, lines end. So what the list has kept alive then gets refs of its own.
func (m *mender) thinnedRef(ctx context.Context, ref odb.Ref) (object.ID, error) {
	m.line = ref.Name
	defer func() { m.line = "" }()
	c, err := m.parsed(ref.ID)
	if err != nil {
		return ref.ID, err
	}
	if c == nil {
		m.tellList(ref, "is lost")
		return object.ID{}, m.asideStrays(ctx)
	}
	records, whole, err := m.records(ctx, c.Tree)
	if err != nil {
		return ref.ID, err
	}
	kept := make([]object.ID, 0, len(c.Parents))
	for _, id := range c.Parents {
		now, ok, err := m.commit(ctx, id)
		if err != nil {
			return ref.ID, err
		}
		if whole = whole && ok; ok {
			kept = append(kept, now)
		}
	}
	if !whole {
		m.tellList(ref, "has lost a part")
		for _, id := range c.Parents {
			if err := m.aside(ctx, id, false, endOfTime); err != nil {
				return ref.ID, err
			}
		}
	}
	m.endRecords(records)
	if m.dry() {
		return ref.ID, nil
	}
	return thinned.Add(m.batch, records, kept)
}

// records reads the records of the list that are there. whole is false if one is lost.
func (m *mender) records(ctx context.Context, tree object.ID) (all map[object.ID]*thinned.Record, whole bool, err error) {
	all = make(map[object.ID]*thinned.Record)
	loss, err := m.tree(ctx, tree, "")
	if err != nil || loss.itself {
		return all, false, err
	}
	table, err := thinned.Read(m.repo.DB, nil)
	if err != nil {
		return all, false, nil // a tree that another place holds comes back with the next repair
	}
	whole = len(loss.paths) == 0
	for _, id := range table.Readable() {
		rec, err := table.Get(id)
		if err != nil {
			whole = false
			continue
		}
		all[id] = rec
	}
	return all, whole, nil
}

// endRecords ends lines at records whose parents are lost.
func (m *mender) endRecords(records map[object.ID]*thinned.Record) {
	for id, rec := range records {
		before := rec.Parent()
		if before.IsZero() || records[before] != nil {
			continue
		}
		if now, known := m.commits[before]; known && !now.IsZero() || !known && !m.repo.Present(before).IsZero() {
			continue
		}
		records[id] = rec.Ended(true)
	}
}

// asideStrays gives refs to all commits of lines that nothing leads to: the list that kept them alive is
// lost.
func (m *mender) asideStrays(ctx context.Context) error {
	if err := m.findStrays(ctx); err != nil {
		return err
	}
	for _, s := range m.strays {
		if s.used || m.reached[s.id] || isOperation(s.data) {
			continue
		}
		s.used = true
		if err := m.reach(ctx, s.id); err != nil {
			return err
		}
		if err := m.aside(ctx, s.id, false, endOfTime); err != nil {
			return err
		}
	}
	return nil
}

func (m *mender) tellList(ref odb.Ref, what string) {
	m.gone = append(m.gone, history.Loss{Kind: "ref", Ref: ref.Name, Checkpoint: ref.ID.String(), Now: ref.ID.String(),
		Text: "the list of thinned checkpoints " + what + "; lines end there, and what came before has refs of its own"})
}
