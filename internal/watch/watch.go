package watch

import "errors"

// Reasons why a tree is not watched. The caller scans without watching.
var (
	// ErrUnsupported: this system, or the file system of the root, cannot be watched.
	ErrUnsupported = errors.New("cannot be watched")
	// ErrLimit: the system's limit for watches is reached.
	ErrLimit = errors.New("limit for watches reached")
)

// LimitError is an ErrLimit with the system's limit, which the user can raise.
type LimitError struct {
	Name string // name for sysctl
	Err  error  // of the system
}

func (e *LimitError) Error() string   { return ErrLimit.Error() + " (" + e.Name + "): " + e.Err.Error() }
func (e *LimitError) Unwrap() []error { return []error{ErrLimit, e.Err} }

// Changes lists the places that may have changed.
type Changes struct {
	// All: everything may have changed, for the given reason. No directory is watched any more.
	All    bool
	Reason string

	// Dirs are the directories whose names, files or permissions may have changed, by the paths
	// with which they were added. The inner set holds the names concerned; "" is the directory
	// itself.
	Dirs map[string]map[string]struct{}

	// New are the paths where a directory was made. Earlier knowledge about paths below them is
	// invalid.
	New map[string]struct{}
}

// None reports whether nothing has changed.
func (c *Changes) None() bool { return !c.All && len(c.Dirs) == 0 }

// Merge adds later changes.
func (c *Changes) Merge(later Changes) {
	if later.All && !c.All {
		c.All, c.Reason = true, later.Reason
	}
	for dir, names := range later.Dirs {
		for name := range names {
			c.add(dir, name)
		}
	}
	for dir := range later.New {
		c.addNew("", dir)
	}
}

func (c *Changes) add(dir, name string) {
	if c.Dirs == nil {
		c.Dirs = make(map[string]map[string]struct{})
	}
	names := c.Dirs[dir]
	if names == nil {
		names = make(map[string]struct{})
		c.Dirs[dir] = names
	}
	names[name] = struct{}{}
}

func (c *Changes) addNew(dir, name string) {
	if c.New == nil {
		c.New = make(map[string]struct{})
	}
	if dir != "" {
		name = dir + "/" + name
	}
	c.New[name] = struct{}{}
}

func everything(reason string) Changes { return Changes{All: true, Reason: reason} }
