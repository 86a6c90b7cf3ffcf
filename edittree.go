package cairn

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// EditTree returns a tree with some paths replaced: their Mode and ID are those of
// edits, nil removes. Trees along the way are added to the batch.
func (r *store) EditTree(batch *odb.Batch, tree object.ID, edits map[string]*object.Entry) (object.ID, error) {
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

func (r *store) editEntry(batch *odb.Batch, entries map[string]object.Entry, name string, sub map[string]*object.Entry) error {
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

// WithoutSkipped is a copy in which the captured paths are no longer skipped. A file that was skipped
// where a directory of theirs is now is gone.
func (m *Metadata) WithoutSkipped(captured map[string]bool) *Metadata {
	out := *m
	above := DirsAbove(maps.Keys(captured))
	out.Skipped = slices.DeleteFunc(slices.Clone(m.Skipped), func(s Skipped) bool {
		return captured[s.Path] || above[s.Path] && IsOfFile(s)
	})
	out.Bare = slices.DeleteFunc(slices.Clone(m.Bare), func(dir PathText) bool { return above[string(dir)] })
	if out.Perms = maps.Clone(m.Perms); out.Perms == nil {
		out.Perms = make(PathPerms)
	}
	return &out
}

// DirsAbove returns the directories above the paths, without the root.
func DirsAbove(paths iter.Seq[string]) map[string]bool {
	above := make(map[string]bool)
	for path := range paths {
		for dir, _ := index.Split(path); dir != "" && !above[dir]; dir, _ = index.Split(dir) {
			above[dir] = true
		}
	}
	return above
}

func (m *Metadata) SetPerm(path string, mode object.Mode, perm uint16) {
	if Octal(perm) == m.Perm.Of(mode) {
		delete(m.Perms, path)
	} else {
		m.Perms[path] = Octal(perm)
	}
}
