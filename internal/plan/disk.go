package plan

import (
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/scan"
)

// Disk is the user's directory at the time of planning. A plan asks it about paths that
// the capture does not hold.
type Disk interface {
	// Find returns the file at a path, or the first parent of the path that is no
	// directory; nil if neither exists.
	Find(path string) (*dir.Found, error)
	// Names lists the names in a directory.
	Names(folder string) ([]string, error)
	// Identify reads a file and returns its state with the id of its contents.
	Identify(path string) (*dir.State, error)
	// Uncaptured returns the path of something in a directory that the capture does not
	// hold and that is not in but, "" if there is none.
	Uncaptured(folder string, but map[string]bool) string
	// CanSave returns the reason why the contents of a file cannot be stored.
	CanSave(path string) error
}

// LiveDisk is the Disk of a root that a capture has read into an index.
type LiveDisk struct {
	Root  string
	Index *index.Index
}

// Find implements Disk.
func (d LiveDisk) Find(path string) (*dir.Found, error) { return dir.Find(d.Root, path, d.Index.Has) }

// Names implements Disk.
func (d LiveDisk) Names(folder string) ([]string, error) { return dir.Names(d.Root, folder) }

// Identify implements Disk.
func (d LiveDisk) Identify(path string) (*dir.State, error) { return scan.Identify(d.Root, path) }

// Uncaptured implements Disk.
func (d LiveDisk) Uncaptured(folder string, but map[string]bool) string {
	return scan.Uncaptured(d.Root, folder, d.Index, but)
}

// CanSave implements Disk.
func (d LiveDisk) CanSave(path string) error { return scan.CanSave(d.Root, path) }
