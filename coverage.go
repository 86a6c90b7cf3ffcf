package cairn

import (
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// coverage answers which paths a state did not capture although they were there, or
// may have been.
type coverage struct {
	reasons map[string]string // by path, for all below it
	files   map[string]bool   // of reasons: the paths that are files, so that nothing lay below them
	seen    map[string]bool
	only    bool // nothing but seen was looked at
}

// A directory whose own rules are unread cannot tell what was ignored in it, so nothing
// in it counts.

func newCoverage(m *metadata) coverage {
	c := coverage{reasons: make(map[string]string, len(m.Skipped)), files: make(map[string]bool), only: m.Partial == PartialPaths}
	for _, s := range m.Skipped {
		c.reasons[s.Path] = s.Reason
		if isOfFile(s) {
			c.files[s.Path] = true
		}
		if dir, name := index.Split(s.Path); name == ".gitignore" && s.Reason == index.Unread.String() {
			c.reasons[dir] = s.Reason
			c.only = c.only || dir == ""
		}
	}
	if len(m.Seen) > 0 {
		c.seen = make(map[string]bool, len(m.Seen))
		for _, path := range m.Seen {
			c.seen[string(path)] = true
		}
	}
	return c
}

// uncaptured returns the reason for path or the directory that it lies in, or "".
func (c coverage) uncaptured(path string) string {
	_, reason := c.nearest(path)
	return reason
}

// lists reports whether the path itself was there without being captured.
func (c coverage) lists(path string) bool {
	_, ok := c.reasons[path]
	return ok
}

// unread reports whether nobody looked at the path.
func (c coverage) unread(path string) bool { return c.uncaptured(path) == index.Unread.String() }

// isOfFile reports whether a skipped path is a file. Directories are listed without a
// size. An unreadable file of no bytes counts as a directory.
func isOfFile(s Skipped) bool {
	switch s.Reason {
	case index.TooLarge.String(), index.Special.String():
		return true
	case index.Unreadable.String():
		return s.Size > 0
	}
	return false
}

// nearest returns where the reason lies that decides about a path: there or above.
func (c coverage) nearest(path string) (at, reason string) {
	if len(c.reasons) == 0 && !c.only {
		return "", ""
	}
	for p := path; ; p, _ = index.Split(p) {
		if c.seen[p] {
			return p, ""
		}
		if reason, ok := c.reasons[p]; ok && (p == path || !c.files[p]) {
			return p, reason
		}
		if p == "" {
			break
		}
	}
	if c.only {
		return "", index.Unread.String()
	}
	return "", ""
}

// within narrows a scope down to what a checkpoint of some paths holds.
func (s *pathScope) within(m *metadata, c *Checkpoint) (*pathScope, error) {
	if m.Partial != PartialPaths {
		return s, nil
	}
	seen := newPathScope(pathtext.Plain(m.Seen))
	if s == nil {
		return seen, nil
	}
	var paths []string
	for _, path := range s.paths {
		switch {
		case seen.covers(path):
			paths = append(paths, path)
		case !seen.leads(path):
			return nil, notFound("path %s at checkpoint %s, which looked only at some paths", path, c.Hash)
		default:
			for _, inside := range seen.paths {
				if s.covers(inside) {
					paths = append(paths, inside)
				}
			}
		}
	}
	return newPathScope(paths), nil
}

// Partial says whether the checkpoint vouches for the whole root, and if not, why. Its
// paths that were not looked at are in no comparison and no operation.
func (c *Checkpoint) Partial() (Partial, error) {
	m, err := c.metadata()
	if err != nil {
		return "", err
	}
	return m.Partial, nil
}

// Seen lists the paths, with all below them, that a checkpoint of PartialPaths holds.
func (c *Checkpoint) Seen() ([]string, error) {
	m, err := c.metadata()
	if err != nil {
		return nil, err
	}
	return pathtext.Plain(m.Seen), nil
}
