package outside

import (
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
)

// Without adds the records of a store to a batch once more without the contents of paths, and of what lies
// below them; of these contents only some go, unless only is nil. Their refs lead to the new trees then. found
// are the paths that records name with such contents, ids their contents.
func Without(s *history.Store, batch *odb.Batch, paths []string, only map[object.ID]bool) (refs []odb.RefUpdate, found, ids map[string]bool, err error) {
	found, ids = make(map[string]bool), make(map[string]bool)
	p := purger{paths, only, found, ids}
	err = eachRecord(s, func(name string, r *Record) error {
		if before, after := p.clear(r.Before), p.clear(r.After); !before && !after {
			return nil
		}
		now, err := Add(s.DB, batch, *r)
		refs = append(refs, odb.RefUpdate{Name: name, ID: now.ID})
		return err
	})
	return refs, found, ids, err
}

// Files lists the files whose contents the records of a store may hold, a list for each record.
func Files(s *history.Store) (records [][]Entry, err error) {
	err = eachRecord(s, func(_ string, r *Record) error {
		var files []Entry
		for _, list := range [][]Entry{r.Before, r.After} {
			for _, e := range list {
				if e.ID != "" && e.Mode.IsFile() {
					files = append(files, e)
				}
			}
		}
		records = append(records, files)
		return nil
	})
	return records, err
}

// eachRecord calls f with every record of a store and the name of its ref.
func eachRecord(s *history.Store, f func(name string, r *Record) error) error {
	all, err := s.DB.Refs(history.RefOutside)
	if err != nil {
		return err
	}
	for _, ref := range all {
		if ref.Err != nil {
			return ref.Err
		}
		r, err := readTree(s, ref.ID)
		if err == nil {
			err = f(ref.Name, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type purger struct {
	paths      []string
	only       map[object.ID]bool // of the contents; nil = all
	found, ids map[string]bool
}

// clear forgets the contents of the purged paths in a list. It reports whether there are any.
func (p *purger) clear(list []Entry) (changed bool) {
	for i := range list {
		for _, path := range p.paths {
			if !realpath.Within(string(list[i].Path), path) || !p.goes(&list[i]) {
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

// goes reports whether the contents of an entry are among those that go.
func (p *purger) goes(e *Entry) bool {
	if p.only == nil {
		return true
	}
	id, err := object.ParseID(e.ID)
	return err == nil && p.only[id]
}
