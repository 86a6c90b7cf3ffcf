package state

import (
	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// Coverage answers which paths a state did not capture although they were there, or
// may have been.
type Coverage struct {
	Reasons map[string]string // by path, for all below it
	files   map[string]bool   // of reasons: the paths that are files, so that nothing lay below them
	Seen    map[string]bool
	only    bool // nothing but seen was looked at
}

// A directory whose own rules are unread cannot tell what was ignored in it, so nothing
// in it counts.

func NewCoverage(m *Metadata) Coverage {
	c := Coverage{Reasons: make(map[string]string, len(m.Skipped)), files: make(map[string]bool), only: m.Partial == PartialPaths}
	for _, s := range m.Skipped {
		c.Reasons[s.Path] = s.Reason
		if IsOfFile(s) {
			c.files[s.Path] = true
		}
		if dir, name := index.Split(s.Path); name == ".gitignore" && s.Reason == index.Unread.String() {
			c.Reasons[dir] = s.Reason
			c.only = c.only || dir == ""
		}
	}
	if len(m.Seen) > 0 {
		c.Seen = make(map[string]bool, len(m.Seen))
		for _, path := range m.Seen {
			c.Seen[string(path)] = true
		}
	}
	return c
}

// Uncaptured returns the reason for path or the directory that it lies in, or "".
func (c Coverage) Uncaptured(path string) string {
	_, reason := c.Nearest(path)
	return reason
}

// Lists reports whether the path itself was there without being captured.
func (c Coverage) Lists(path string) bool {
	_, ok := c.Reasons[path]
	return ok
}

// Unread reports whether nobody looked at the path.
func (c Coverage) Unread(path string) bool { return c.Uncaptured(path) == index.Unread.String() }

// IsOfFile reports whether a skipped path is a file. Directories are listed without a
// size. An unreadable file of no bytes counts as a directory.
func IsOfFile(s Skipped) bool {
	switch s.Reason {
	case index.TooLarge.String(), index.Special.String():
		return true
	case index.Unreadable.String():
		return s.Size > 0
	}
	return false
}

// Nearest returns where the reason lies that decides about a path: there or above.
func (c Coverage) Nearest(path string) (at, reason string) {
	if len(c.Reasons) == 0 && !c.only {
		return "", ""
	}
	for p := path; ; p, _ = index.Split(p) {
		if c.Seen[p] {
			return p, ""
		}
		if reason, ok := c.Reasons[p]; ok && (p == path || !c.files[p]) {
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
