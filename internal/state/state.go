package state

import (
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// NoMessage is the message of a checkpoint whose caller gives none. Answers for people leave it out, and searches do not
// find it.
const NoMessage = "checkpoint"

// State is one side of a comparison: a checkpoint, or a capture of the disk.
type State struct {
	Tree object.ID
	Meta *Metadata
}

// WithAbsent returns the state, with the knowledge that nothing stood at some paths. An operation knows it of the paths
// that it made or deleted. A capture may list them as present: those that a sparse checkout leaves out.
func (s State) WithAbsent(paths []string) State {
	if len(paths) == 0 || len(s.Meta.Skipped) == 0 {
		return s
	}
	m := *s.Meta
	m.absent = make(map[string]bool, len(paths))
	for _, path := range paths {
		m.absent[path] = true
	}
	return State{s.Tree, &m}
}

// DifferingPerms returns the paths whose exceptions from the common permission bits differ.
func DifferingPerms(a, b *Metadata) map[string]bool {
	paths := make(map[string]bool)
	for p, perm := range a.Perms {
		if other, ok := b.Perms[p]; !ok || other != perm {
			paths[p] = true
		}
	}
	for p := range b.Perms {
		if _, ok := a.Perms[p]; !ok {
			paths[p] = true
		}
	}
	return paths
}

// Equals reports whether two states have the same tree, permission bits and uncaptured directories.
func (s State) Equals(o State) bool {
	if s.Tree != o.Tree || s.Meta.Perm != o.Meta.Perm || len(DifferingPerms(s.Meta, o.Meta)) > 0 {
		return false
	}
	dirs := make(map[string]bool)
	Emptied(s.Meta, o.Meta, dirs)
	return len(dirs) == 0
}

// Emptied adds to dirs the directories that only one side lists as holding nothing captured.
func Emptied(a, b *Metadata, dirs map[string]bool) {
	listed := make(map[Path]int)
	for side, m := range []*Metadata{a, b} {
		for _, list := range [][]Path{m.Empty, m.Bare} {
			for _, path := range list {
				listed[path] |= 1 << side
			}
		}
	}
	for path, sides := range listed {
		if sides != 1|2 {
			dirs[string(path)] = true
		}
	}
}
