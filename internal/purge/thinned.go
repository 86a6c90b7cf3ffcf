package purge

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/thinned"
)

// record rewrites a thinned commit, of which only the bytes are left: its parent, its headers, and what
// its metadata say of the purged paths.
func (p *purger) record(ctx context.Context, id object.ID, rec *thinned.Record) (object.ID, error) {
	c, err := object.ParseCommit(rec.Commit)
	if err != nil {
		return id, fmt.Errorf("thinned checkpoint %s: %w: %w", id, state.ErrCorrupt, err)
	}
	if before := p.repo.BeforeThinned(p.ends, rec); before.IsZero() {
		rec = rec.Ended(len(c.Parents) > 0)
	} else if c.Parents[0], err = p.commit(ctx, before); err != nil {
		return id, err
	}
	if err := p.headers(ctx, c, &purgedTree{id: c.Tree}); err != nil {
		return id, fmt.Errorf("thinned checkpoint %s: %w", id, err)
	}
	out, err := object.AppendCommit(nil, c)
	if err != nil {
		return id, err
	}
	now := object.Sum(object.Commit, out)
	if now != id {
		rec = rec.With(out, rec.Nearest)
	}
	p.thinned[now], p.commits[id] = rec, now
	return now, nil
}

// lists makes the list of thinned checkpoints after the rewriting. While refs move, lines are on either
// side of it, so there is a list for both until the last one has moved.
func (p *purger) lists(ctx context.Context) (first, last []odb.Ref, err error) {
	table := p.repo.ThinnedTable()
	if table == nil {
		return nil, nil, nil
	}
	old, err := table.All()
	if err != nil {
		return nil, nil, err
	}
	kept, both := []object.ID{}, slices.Clone(table.Kept())
	for _, id := range table.Kept() {
		now, err := p.commit(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		kept, both = append(kept, now), append(both, now)
	}
	for id, rec := range p.thinned {
		if now, ok := p.commits[rec.Nearest]; ok && now != rec.Nearest {
			p.thinned[id] = rec.With(rec.Commit, now)
		}
		old[id] = p.thinned[id]
	}
	for _, list := range []struct {
		records map[object.ID]*thinned.Record
		kept    []object.ID
		refs    *[]odb.Ref
	}{{old, both, &first}, {p.thinned, kept, &last}} {
		id, err := thinned.Add(p.batch, list.records, list.kept)
		if err != nil {
			return nil, nil, err
		}
		*list.refs = []odb.Ref{{Name: thinned.Ref, ID: id}}
	}
	return first, last, nil
}
