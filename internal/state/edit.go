package state

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// WithoutSkipped returns a copy in which the captured paths are not skipped. A skipped file goes,
// too, where a captured path now has it as a directory.
func (m *Metadata) WithoutSkipped(captured map[string]bool) *Metadata {
	out := *m
	above := DirsAbove(maps.Keys(captured))
	out.Skipped = slices.DeleteFunc(slices.Clone(m.Skipped), func(s Skipped) bool {
		return captured[string(s.Path)] || above[string(s.Path)] && IsOfFile(s)
	})
	out.Bare = slices.DeleteFunc(slices.Clone(m.Bare), func(dir Path) bool { return above[string(dir)] })
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

// SetPerm records the permission bits of a path, as an exception where they are not the usual ones.
func (m *Metadata) SetPerm(path string, mode object.Mode, perm uint16) {
	if Octal(perm) == m.Perm.Of(mode) {
		delete(m.Perms, path)
	} else {
		m.Perms[path] = Octal(perm)
	}
}

// reasonLost is the reason of a path whose contents the store has lost.
const reasonLost = "lost"

// MendedState is a state after its lost paths were removed from the tree.
type MendedState struct {
	ID      object.ID
	Gone    []string
	Emptied []string // directories that were in the tree and are no longer
}

// Lose records the lost paths of s as present and not captured.
func (m *Metadata) Lose(s *MendedState) {
	scope := NewPathScope(s.Gone)
	below := func(path Path) bool { return scope.Covers(string(path)) }
	m.Skipped = slices.DeleteFunc(m.Skipped, func(s Skipped) bool { return scope.Covers(string(s.Path)) })
	m.Secrets = slices.DeleteFunc(m.Secrets, func(s Secret) bool { return scope.Covers(string(s.Path)) })
	for _, path := range s.Gone {
		m.Skipped = append(m.Skipped, Skipped{Path: Path(path), Reason: reasonLost})
		if dir, name := index.Split(path); name == index.IgnoreFile && m.Rules != nil {
			m.Rules.Unknown = append(m.Rules.Unknown, Path(dir))
		}
	}
	slices.SortFunc(m.Skipped, func(a, b Skipped) int { return cmp.Compare(a.Path, b.Path) })
	m.Empty, m.Bare = slices.DeleteFunc(m.Empty, below), slices.DeleteFunc(m.Bare, below)
	for _, dir := range s.Emptied {
		if !slices.Contains(m.Bare, Path(dir)) {
			m.Bare = append(m.Bare, Path(dir))
		}
	}
	maps.DeleteFunc(m.Perms, func(path string, _ Octal) bool { return scope.Covers(path) })
	if m.Rules != nil {
		slices.Sort(m.Rules.Unknown)
		m.Rules.Unknown = slices.Compact(m.Rules.Unknown)
	}
}

// WithDirs returns a copy that lists further directories with their permission bits. above holds
// the directories that contain captured files.
func (m *Metadata) WithDirs(dirs map[string]uint16, above map[string]bool) *Metadata {
	out := m.WithoutSkipped(nil)
	for path, perm := range dirs {
		out.SetPerm(path, object.Dir, perm)
		if !above[path] && !out.Lists(path) {
			out.Bare = append(out.Bare, Path(path))
		}
	}
	slices.Sort(out.Bare)
	return out
}
