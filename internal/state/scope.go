package state

import (
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// PathScope selects paths: the named ones and everything below them. A nil scope selects every
// path.
type PathScope struct {
	Paths []string // sorted, without paths below others
	alone []string // sorted: selected without the paths below them
}

// NewPathScope returns a scope of the paths and everything below them.
func NewPathScope(paths []string) *PathScope {
	sorted := slices.Clone(paths)
	slices.Sort(sorted)
	s := &PathScope{}
	for _, p := range slices.Compact(sorted) {
		if !s.Covers(p) {
			s.Paths = append(s.Paths, p)
		}
	}
	return s
}

// WithAlone adds paths that are selected without the paths below them.
func (s *PathScope) WithAlone(paths []string) *PathScope {
	s.alone = slices.Clone(paths)
	slices.Sort(s.alone)
	return s
}

// Named lists all paths that the scope names.
func (s *PathScope) Named() []string { return slices.Concat(s.Paths, s.alone) }

// Covers reports whether path is selected. It looks up every parent, so the result does not depend
// on where "/" sorts among the bytes of names.
func (s *PathScope) Covers(path string) bool {
	if s == nil {
		return true
	}
	if _, ok := slices.BinarySearch(s.alone, path); ok {
		return true
	}
	for p := path; ; p, _ = index.Split(p) {
		if _, ok := slices.BinarySearch(s.Paths, p); ok {
			return true
		}
		if p == "" {
			return false
		}
	}
}

// Leads reports whether selected paths may lie in the directory.
func (s *PathScope) Leads(dir string) bool {
	if s.Covers(dir) {
		return true
	}
	prefix := dir + "/"
	for _, list := range [][]string{s.Paths, s.alone} {
		if i, _ := slices.BinarySearch(list, prefix); i < len(list) && strings.HasPrefix(list[i], prefix) {
			return true
		}
	}
	return false
}

// NamesExactly reports whether path is one of the named paths.
func (s *PathScope) NamesExactly(path string) bool {
	if s == nil {
		return false
	}
	_, found := slices.BinarySearch(s.Paths, path)
	return found
}
