package capture

import (
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/watch"
)

// watchScope lists the directories to scan. A directory in Names is scanned only at these names;
// the others are scanned whole. A fresh directory may be another one than the directory of that
// path that is under watch.
type watchScope struct {
	Dirs  map[string]bool
	Names map[string][]string
	fresh map[string]bool
}

// fewNames is the number of names that one goroutine scans before a second one is awake.
const fewNames = 16

// small reports whether the scope is a few names.
func (s *watchScope) small() bool {
	if len(s.fresh) > 0 {
		return false
	}
	names := 0
	for dir := range s.Dirs {
		if s.Names[dir] == nil {
			return false
		}
		names += len(s.Names[dir])
	}
	return names <= fewNames
}

// NewWatchScope returns the changed paths and the directories that lead to them from the root.
func NewWatchScope(c *watch.Changes, x *index.Index) watchScope {
	s := watchScope{map[string]bool{"": true}, make(map[string][]string), make(map[string]bool)}
	for dir := range c.New {
		addKnown(s.fresh, x, dir)
	}
	whole := maps.Clone(s.fresh)
	sets := map[string]map[string]bool{"": {}}
	add := func(dir, name string) {
		if sets[dir] == nil {
			sets[dir] = make(map[string]bool)
		}
		sets[dir][name] = true
	}
	for dir, names := range c.Dirs {
		for name := range names {
			add(dir, name)
		}
		if _, itself := names[""]; itself {
			whole[dir] = true
		}
	}
	for _, dir := range slices.Concat(slices.Collect(maps.Keys(whole)), slices.Collect(maps.Keys(sets))) {
		for dir != "" && !s.Dirs[dir] {
			s.Dirs[dir] = true
			parent, name := index.Split(dir)
			add(parent, name)
			dir = parent
		}
	}
	for dir, names := range sets {
		if !whole[dir] {
			s.Names[dir] = slices.AppendSeq(make([]string, 0, len(names)), maps.Keys(names))
			slices.Sort(s.Names[dir])
		}
	}
	return s
}

// addKnown adds a directory and all directories below it that the index has.
func addKnown(set map[string]bool, x *index.Index, dir string) {
	set[dir] = true
	d := x.Dirs[dir]
	if d == nil {
		return
	}
	for rec := range d.All {
		if rec.Mode() == object.Dir {
			addKnown(set, x, index.Join(dir, string(rec.Name())))
		}
	}
}
