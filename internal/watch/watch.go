package watch

import "errors"

// The conditions under which there is no watching. The caller does without.
var (
	// ErrUnsupported: this system, or the file system of the root, cannot be watched.
	ErrUnsupported = errors.New("cannot be watched")
	// ErrLimit: the system's limit for watches is reached.
	ErrLimit = errors.New("limit for watches reached")
)

// LimitError is an ErrLimit: a limit of the system that its user can raise.
type LimitError struct {
	Name string // as sysctl has it
	Err  error  // of the system
}

func (e *LimitError) Error() string   { return ErrLimit.Error() + " (" + e.Name + "): " + e.Err.Error() }
func (e *LimitError) Unwrap() []error { return []error{ErrLimit, e.Err} }

// Changes says where something may have happened.
type Changes struct {
	// All: everywhere, for the reason given. No directory is watched any more.
	All    bool
	Reason string

	// Dirs are the directories, by the paths that they were added with, whose names,
	// files or permissions may have changed, with the names concerned; "" stands for
	// the directory itself.
	Dirs map[string]map[string]struct{}

	// New are the paths where a directory was made. Whatever was known below them is
	// no longer true.
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
