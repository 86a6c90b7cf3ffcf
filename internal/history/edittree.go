package history

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// EditTree returns a tree with some paths replaced. edits gives their Mode and ID; nil removes a
// path. Changed trees along the way are added to the batch.
func (r *Store) EditTree(batch *odb.Batch, tree object.ID, edits map[string]*object.Entry) (object.ID, error) {
	read, err := r.ReadTree(tree)
	if err != nil {
		return object.ID{}, err
	}
	entries := make(map[string]object.Entry, len(read))
	for _, e := range read {
		entries[e.Name] = e
	}
	below := make(map[string]map[string]*object.Entry)
	for path, e := range edits {
		name, rest, deeper := strings.Cut(path, "/")
		switch {
		case deeper && below[name] == nil:
			below[name] = map[string]*object.Entry{rest: e}
		case deeper:
			below[name][rest] = e
		case e == nil:
			delete(entries, name)
		default:
			entries[name] = object.Entry{Name: name, Mode: e.Mode, ID: e.ID}
		}
	}
	for name, sub := range below {
		if err := r.editEntry(batch, entries, name, sub); err != nil {
			return object.ID{}, err
		}
	}
	sorted := slices.SortedFunc(maps.Values(entries), object.CompareEntries)
	return batch.Add(object.Tree, object.AppendTree(nil, sorted))
}

func (r *Store) editEntry(batch *odb.Batch, entries map[string]object.Entry, name string, sub map[string]*object.Entry) error {
	var old object.ID
	if e := entries[name]; e.Mode == object.Dir {
		old = e.ID
	}
	delete(entries, name)
	id, err := r.EditTree(batch, old, sub)
	if err != nil || id == object.EmptyTree {
		return err
	}
	entries[name] = object.Entry{Name: name, Mode: object.Dir, ID: id}
	return nil
}
