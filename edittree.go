package cairn

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/worktree"
)

// editTree returns a tree with some paths replaced: their Mode and ID are those of
// edits, nil removes. Trees along the way are added to the batch.
func (r *Repo) editTree(batch *odb.Batch, tree object.ID, edits map[string]*object.Entry) (object.ID, error) {
	read, err := r.readTree(tree)
	if err != nil {
		return object.ID{}, err
	}
	entries := slices.Clone(read)
	below := make(map[string]map[string]*object.Entry)
	for path, e := range edits {
		name, rest, deeper := strings.Cut(path, "/")
		if !deeper {
			entries = slices.DeleteFunc(entries, func(old object.Entry) bool { return old.Name == name })
			if e != nil {
				entries = append(entries, object.Entry{Name: name, Mode: e.Mode, ID: e.ID})
			}
			continue
		}
		if below[name] == nil {
			below[name] = make(map[string]*object.Entry)
		}
		below[name][rest] = e
	}
	for name, sub := range below {
		if entries, err = r.editEntry(batch, entries, name, sub); err != nil {
			return object.ID{}, err
		}
	}
	object.SortEntries(entries)
	return batch.Add(object.Tree, object.AppendTree(nil, entries))
}

func (r *Repo) editEntry(batch *odb.Batch, entries []object.Entry, name string, sub map[string]*object.Entry) ([]object.Entry, error) {
	var old object.ID
	entries = slices.DeleteFunc(entries, func(e object.Entry) bool {
		if e.Name == name && e.Mode == object.Dir {
			old = e.ID
		}
		return e.Name == name
	})
	id, err := r.editTree(batch, old, sub)
	if err != nil || id == object.EmptyTree {
		return entries, err
	}
	return append(entries, object.Entry{Name: name, Mode: object.Dir, ID: id}), nil
}

// withoutSkipped is a copy in which paths have become captured.
func (m *metadata) withoutSkipped(saved map[string]*worktree.Expect) *metadata {
	out := *m
	out.Skipped = slices.DeleteFunc(slices.Clone(m.Skipped), func(s Skipped) bool { return saved[s.Path] != nil })
	out.Bare = slices.DeleteFunc(slices.Clone(m.Bare), func(dir pathText) bool {
		for path := range saved {
			if strings.HasPrefix(path, string(dir)+"/") {
				return true
			}
		}
		return false
	})
	if out.Perms = maps.Clone(m.Perms); out.Perms == nil {
		out.Perms = make(pathPerms)
	}
	return &out
}

func (m *metadata) setPerm(path string, mode object.Mode, perm uint16) {
	if octal(perm) == m.Perm.of(mode) {
		delete(m.Perms, path)
	} else {
		m.Perms[path] = octal(perm)
	}
}
