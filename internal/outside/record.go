package outside

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Entry is a path as it was at one time.
type Entry struct {
	Path state.Path  `json:"path"`           // absolute; no directory above it is a symlink
	Mode object.Mode `json:"mode,omitempty"` // of a file or a symlink; 0 = nothing was there
	Perm state.Octal `json:"perm,omitempty"` // of a file
	ID   string      `json:"id,omitempty"`   // of the contents, or of a link's text
	Left string      `json:"left,omitempty"` // why the path was not saved, "" if it was
}

// same reports whether a path is the same at two times. A path about which one of them knows nothing
// is not.
func (e *Entry) same(o *Entry) bool {
	return e.Left == "" && o.Left == "" && e.Mode == o.Mode && e.Perm == o.Perm && e.ID == o.ID
}

// Record says how paths were at one time, or before and after an operation.
type Record struct {
	Version int     `json:"v"`
	Before  []Entry `json:"before,omitempty"`
	After   []Entry `json:"after,omitempty"`
}

const (
	recordVersion = 1
	listName      = "list"
)

// Add adds the tree of a record to a batch. The tree has those contents of its entries that the batch or
// the store holds.
func Add(db *odb.DB, batch *odb.Batch, r Record) (odb.RefUpdate, error) {
	r.Version = recordVersion
	data, err := json.Marshal(r)
	if err != nil {
		return odb.RefUpdate{}, err
	}
	list, err := batch.Add(object.Blob, data)
	if err != nil {
		return odb.RefUpdate{}, err
	}
	entries := []object.Entry{{Name: listName, Mode: object.Regular, ID: list}}
	known := make(map[string]bool)
	for _, some := range [][]Entry{r.Before, r.After} {
		for i := range some {
			e, held, err := some[i].held(db, batch)
			if err != nil {
				return odb.RefUpdate{}, err
			}
			if held && !known[e.Name] {
				known[e.Name] = true
				entries = append(entries, e)
			}
		}
	}
	object.SortEntries(entries)
	id, err := batch.Add(object.Tree, object.AppendTree(nil, entries))
	return odb.RefUpdate{Name: history.RefOutside + id.String(), ID: id}, err
}

// held is the entry of a record's tree for the contents of a path, if they are stored.
func (e *Entry) held(db *odb.DB, batch *odb.Batch) (object.Entry, bool, error) {
	if e.ID == "" {
		return object.Entry{}, false, nil
	}
	id, err := object.ParseID(e.ID)
	if err != nil {
		return object.Entry{}, false, err
	}
	held := batch.Has(id)
	if !held {
		held, err = db.Has(id)
	}
	return object.Entry{Name: e.ID, Mode: object.Regular, ID: id}, held, err
}

// Read returns a record. It returns nil for one that this store does not have: another machine made it,
// or it was cleaned away.
func Read(s *history.Store, id string) (*Record, error) {
	tree, err := s.DB.Ref(history.RefOutside + id)
	if errors.Is(err, odb.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return readTree(s, tree)
}

func readTree(s *history.Store, tree object.ID) (*Record, error) {
	entries, err := s.ReadTree(tree)
	if err != nil {
		return nil, fmt.Errorf("record of paths outside the root: %w", err)
	}
	for i := range entries {
		if entries[i].Name != listName {
			continue
		}
		data, err := s.Blob(&entries[i])
		if err != nil {
			return nil, fmt.Errorf("record of paths outside the root: %w", err)
		}
		r := &Record{}
		if err := json.Unmarshal(data, r); err != nil {
			return nil, fmt.Errorf("%w: record %s of paths outside the root: %w", state.ErrCorrupt, tree, err)
		}
		if r.Version != recordVersion {
			return nil, state.LaterRelease("record %s of version %d", tree, r.Version)
		}
		return r, nil
	}
	return nil, fmt.Errorf("%w: record %s of paths outside the root has no list", state.ErrCorrupt, tree)
}
