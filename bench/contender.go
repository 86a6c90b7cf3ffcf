package main

import "fmt"

// contender is one way to take checkpoints of a directory. Its methods are what is
// timed; each carries out the operation as a whole, starting whatever processes that
// takes.
type contender interface {
	// Reset throws the store away: the next Track is a first one.
	Reset() error
	// Track records the directory and returns the id of its tree.
	Track() (tree string, err error)
	// Patch lists what differs between a tree and the directory.
	Patch(tree string) (files []string, err error)
	// DiffFull gets all texts and counts between two trees. What it returns counts
	// the files, and is not part of the time.
	DiffFull(from, to string) (count func() (int, error), err error)
	// Restore brings the directory back to a tree.
	Restore(tree string) error
	// Revert brings the given files, absolute paths, back to a tree.
	Revert(tree string, files []string) error
	// Used returns the processor time and the peak memory since it was last called.
	Used() usage
}

// undoer is a contender that can take a restore back, and carry it out again.
type undoer interface {
	Undo() error
	Redo() error
}

// undoes reports whether the contender of this kind is an undoer.
func (s *setting) undoes() bool {
	return s.Kind == nameCLI || s.Kind == nameLibrary || s.Kind == nameWatching
}

// usage is what a contender's processes cost. PeakBytes is 0 where the system does
// not tell.
type usage struct {
	CPUSeconds float64
	PeakBytes  int64
}

// setting is where a contender works and with which programs.
type setting struct {
	Kind  string // nameSpec, nameCLI, nameLibrary or nameOpenCode
	Root  string // the directory
	Store string // where it may put its store; Reset removes it
	Home  string // an empty home directory
	Git   string // the git program
	Cairn string // the cairn program
	Alone bool   // the program does not clean in the background
}

// The contenders' names in tables and files.
const (
	nameSpec     = "spec"
	nameCLI      = "cairn"
	nameLibrary  = "cairn-library"
	nameOpenCode = "opencode"
	nameWatching = "cairn-watching" // the library with Options.Watch
)

func newContender(s setting) (contender, error) {
	switch s.Kind {
	case nameSpec:
		return newSpec(s), nil
	case nameCLI:
		return newCLI(s), nil
	case nameLibrary, nameWatching:
		return newLibrary(s), nil
	case nameOpenCode:
		return newOpenCode(s), nil
	}
	return nil, fmt.Errorf("no contender is called %q", s.Kind)
}
