package outside

import (
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
)

// Without adds the records of a store to a batch once more without the contents of paths, and of what lies
// below them. Their refs lead to the new trees then. found are the paths that records name, ids their contents.
func Without(s *history.Store, batch *odb.Batch, paths []string) (refs []odb.RefUpdate, found, ids map[string]bool, err error) {
	found, ids = make(map[string]bool), make(map[string]bool)
	all, err := s.DB.Refs(history.RefOutside)
	if err != nil {
		return nil, nil, nil, err
	}
	p := purger{paths, found, ids}
	for _, ref := range all {
		if ref.Err != nil {
			return nil, nil, nil, ref.Err
		}
		r, err := readTree(s, ref.ID)
		if err != nil {
			return nil, nil, nil, err
		}
		if before, after := p.clear(r.Before), p.clear(r.After); !before && !after {
			continue
		}
		now, err := Add(s.DB, batch, *r)
		if err != nil {
			return nil, nil, nil, err
		}
		refs = append(refs, odb.RefUpdate{Name: ref.Name, ID: now.ID})
	}
	return refs, found, ids, nil
}

type purger struct {
	paths      []string
	found, ids map[string]bool
}

// clear forgets the contents of the purged paths in a list. It reports whether there are any.
func (p *purger) clear(list []Entry) (changed bool) {
	for i := range list {
		for _, path := range p.paths {
			if !realpath.Within(string(list[i].Path), path) {
				continue
			}
			p.found[path] = true
			if list[i].ID != "" {
				p.ids[list[i].ID] = true
			}
			changed = changed || list[i].Left != leftPurged
			list[i] = Entry{Path: list[i].Path, Left: leftPurged}
		}
	}
	return changed
}
