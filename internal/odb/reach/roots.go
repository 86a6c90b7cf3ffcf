package reach

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// Objects lists the packs and the loose objects of a store, and takes a census of them.
func Objects(db *odb.DB) (*Census, []*pack.Pack, []object.ID, error) {
	packs, err := db.Packs()
	if err != nil {
		return nil, nil, nil, err
	}
	loose, err := db.LooseObjects()
	if err != nil {
		return nil, nil, nil, err
	}
	all, err := NewCensus(packs, loose)
	return all, packs, loose, err
}

// Commits lists every commit of a store, reachable or not.
func Commits(ctx context.Context, db *odb.DB) ([]object.ID, error) {
	all, _, _, err := Objects(db)
	if err != nil {
		return nil, err
	}
	var commits []object.ID
	for _, id := range all.IDs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if kind, _, err := db.Stat(id); err == nil && kind == object.Commit {
			commits = append(commits, id)
		}
	}
	return commits, nil
}

// CutAt makes lines end at the commits that the shallow file of a store lists, and at more. A
// list that cannot be read blocks the marker.
func (m *Marker) CutAt(db *odb.DB, more []object.ID) {
	ids, err := db.Shallow()
	if err != nil {
		m.Block(fmt.Errorf("what is needed cannot be told: %w", err))
		return
	}
	m.SetCut(append(ids, more...))
}

// MarkRoots marks the objects that refs, HEAD and journals of a store name, without the refs
// for which without returns true. It returns the number of names. A ref that cannot be read
// blocks the marker.
func (m *Marker) MarkRoots(db *odb.DB, without func(string) bool) (n int, err error) {
	refs, err := db.Refs("")
	if err != nil {
		return 0, err
	}
	if id, err := db.Ref("HEAD"); !errors.Is(err, odb.ErrNotFound) {
		refs = append(refs, odb.Ref{Name: "HEAD", ID: id, Err: err})
	}
	for _, r := range refs {
		switch {
		case without != nil && without(r.Name):
			continue
		case r.Err != nil:
			m.Block(fmt.Errorf("what is needed cannot be told: ref %s: %w", r.Name, r.Err))
		default:
			m.Root(r.ID, true, "ref "+r.Name)
		}
		n++
	}
	named, err := db.JournalIDs()
	for _, id := range named {
		m.Root(id, false, "journal")
		n++
	}
	return n, err
}
