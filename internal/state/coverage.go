package state

import (
	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// Coverage tells which paths a state vouches for, and which it did not capture although they were
// present, or may have been. A nil *Coverage covers every path.
type Coverage struct {
	Kind    Extent
	Skipped []Skipped
	Reasons map[string]string // by path; a reason holds for everything below it
	Seen    map[string]bool
	files   map[string]bool // the paths in Reasons that are files, with nothing below them
	only    bool            // only the paths in Seen were read
	absent  map[string]bool // see State.WithAbsent
}

// NewCoverage returns the Coverage of a state's metadata. An unread .gitignore makes its whole
// directory unread: without the rules it is not known which paths were ignored there.
func NewCoverage(m *Metadata) *Coverage {
	c := &Coverage{
		Kind: m.Partial, Skipped: m.Skipped, Reasons: make(map[string]string, len(m.Skipped)),
		files: make(map[string]bool), only: m.Partial == ExtentPaths, absent: m.absent,
	}
	for _, s := range m.Skipped {
		c.Reasons[string(s.Path)] = s.Reason
		if IsOfFile(s) {
			c.files[string(s.Path)] = true
		}
		if dir, name := index.Split(string(s.Path)); name == ".gitignore" && s.Reason == index.Unread.String() {
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

// Covers reports whether the state vouches for the path.
func (c *Coverage) Covers(path string) bool { return c.Uncaptured(path) == "" }

// Uncaptured returns the reason that holds for path, on it or above it, or "".
func (c *Coverage) Uncaptured(path string) string {
	_, reason := c.Nearest(path)
	return reason
}

// Lists reports whether the path itself was present without being captured.
func (c *Coverage) Lists(path string) bool {
	_, ok := c.Reasons[path]
	return ok
}

// Unread reports whether the capture did not read the path.
func (c *Coverage) Unread(path string) bool { return c.Uncaptured(path) == index.Unread.String() }

// IsOfFile reports whether a skipped path is a file. Skipped directories have no size. An
// unreadable file of no bytes counts as a directory.
func IsOfFile(s Skipped) bool {
	switch s.Reason {
	case index.TooLarge.String(), index.Special.String(), index.Secret.String():
		return true
	case index.Unreadable.String():
		return s.Size > 0
	}
	return false
}

// Nearest returns the path, on or above the given one, whose entry decides, and its reason. The
// reason is "" for a path that was captured or absent.
func (c *Coverage) Nearest(path string) (at, reason string) {
	if c == nil || len(c.Reasons) == 0 && !c.only {
		return "", ""
	}
	if c.absent[path] {
		return path, ""
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
