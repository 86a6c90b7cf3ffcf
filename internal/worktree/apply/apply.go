package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// What can keep a change from being carried out, beside the system's own errors.
var (
	// ErrUnsafePath: the path could lead out of the root or into a repository.
	ErrUnsafePath = errors.New("unsafe path")
	// ErrNotEmpty: a directory to be removed holds something else and stays.
	ErrNotEmpty = errors.New("directory is not empty")
	// ErrSpelling: it stays under a name that is not spelled as it should be.
	ErrSpelling = errors.New("the file system keeps the spelling that it has")
)

// Action is what a change does to its path.
type Action uint8

// The actions. Their names are part of the journal's format.
const (
	Create Action = iota + 1 // write where nothing is
	Modify                   // replace a file or symlink by a file or symlink
	Chmod                    // set the permission bits of a file or directory
	Delete                   // remove a file or symlink
	Mkdir                    // make a directory
	Rmdir                    // remove an empty directory
)

var actionNames = [...]string{Create: "create", Modify: "modify", Chmod: "chmod", Delete: "delete", Mkdir: "mkdir", Rmdir: "rmdir"}

// String returns the name of the action.
func (a Action) String() string {
	if a < Create || a > Rmdir {
		return fmt.Sprintf("action(%d)", uint8(a))
	}
	return actionNames[a]
}

// Makes reports whether there is something at the path afterwards that may have been
// absent before.
func (a Action) Makes() bool { return a == Create || a == Modify || a == Mkdir }

// Removes reports whether there is nothing at the path afterwards.
func (a Action) Removes() bool { return a == Delete || a == Rmdir }

// ParseAction is the inverse of Action.String.
func ParseAction(s string) (Action, error) {
	for a := Create; a <= Rmdir; a++ {
		if actionNames[a] == s {
			return a, nil
		}
	}
	return 0, fmt.Errorf("unknown action %q", s)
}

// Change is one step of a plan.
type Change struct {
	Path   string // below the root, '/' between the names, raw bytes
	Action Action
	Mode   object.Mode // wanted: Regular, Executable, Symlink, or Dir for Mkdir and the Chmod of a directory
	Perm   uint16      // wanted permission bits, 07777; symlinks have none
	ID     object.ID   // wanted contents: a blob, or a link's text
	Was    *dir.State  // what must be on disk now; nil = nothing

	// As is, of a Delete or Rmdir, the path of what is made in its place by another change,
	// because the file system takes the two paths for the same; else "".
	As string
}

// Source gives out the contents to write. A reader fails no later than at its end
// when it cannot vouch for what it gave. Open is called from several goroutines.
type Source interface {
	Open(id object.ID) (size int64, r io.ReadCloser, err error)
}

// Outcome is what became of one change.
type Outcome struct {
	Path   string
	Action Action
	Err    error // an *fs.PathError; why the path is not as wanted
	Done   bool  // the path is as wanted, by this call or since before
	Linked bool  // what was replaced or removed has other names (hard links), which keep it

	// Entry is the written path for the stat cache: Name is its last name, the rest
	// is what the disk shows now, ID what was verified. It is marked racy, because a
	// file just written can change once more within one tick of the clock, except where
	// the file system was seen to stamp such a change with a later time. Perm
	// differs from the wanted bits where the file system cannot hold them. Entry is
	// the zero value where nothing was written, or somebody else wrote since.
	Entry index.Entry
}

// Executor carries out plans below one directory.
type Executor struct {
	Root   string
	Source Source
	Token  string // names the operation and its temporary files: letters, digits, '-' and '_', at most 64
	Resume bool   // the plan may have been carried out in part
	Sync   bool   // contents, bits and names that were written are on the medium when Run returns

	order func(*os.File) (device uint64, ok bool) // both for tests; nil = atomicfile.Ordered
	flush func(*os.File) error                    // nil = (*os.File).Sync

	stamps func(*os.File) atomicfile.Fine // for tests; nil = atomicfile.StampsFinely
	fine   fineStamps
}

// DirsStampFinely reports whether Run has seen that a file system gives directories that
// were looked at a time of their own with the next change. It asks where it writes a file.
func (a *Executor) DirsStampFinely(device uint64) bool { return a.fine.of(device).Dirs }

// Run carries out changes and returns what became of each, in the order of
// changes. No path stops another: the error speaks only of the root, of the end of
// ctx, and of directories whose permission bits could not be put back.
//
//  1. Remove what stands in the way of something to be made: a file where a
//     directory comes, a directory's contents and the directory where a file comes,
//     and what has the same name in another spelling. A directory of that kind that
//     holds something else is renamed.
//  2. Make directories, parents first, and the parents that the plan forgot.
//  3. Write: a temporary file in the same directory, contents, permission bits,
//     read back and compared with the id; with Sync, flushed, together with some
//     dozens of others; then, if the path still is what the plan expects, rename.
//     Nothing is ever written in place, so that the other names of a hard link keep
//     their contents.
//  4. Remove the other files, deepest first.
//  5. Set the permission bits of directories and remove directories, deepest first.
//  6. With Sync, flush each directory in which names changed, once, or one for all of
//     a file system that keeps order; see flushes.
//
// Every step goes through handles of the directories on the way, which neither
// follow symlinks nor leave the root; a directory that is moved while it is held
// is still the same directory. A directory that its owner may not write to is made
// writable for the time being and put back at the end. After a crash only the
// plan knows the bits that it had: a plan protects them by a Chmod of the directory
// to the bits that it has, which also accepts the widened ones when resuming.
//
// With Resume, a path that is as wanted is done, whoever made it so, and one that is
// as expected is changed. Anything else is somebody's work and stays: ErrChanged.
//
// Not guaranteed: a write by another process between the last look at a path and
// the rename or unlink, some microseconds later, is lost; owner, group, access
// lists and extended attributes of what is replaced are those of a new file.
//
// progress, if not nil, is called after every change, never twice at a time.
func (a *Executor) Run(ctx context.Context, changes []Change, progress func(done, total int)) ([]Outcome, error) {
	if !validToken(a.Token) {
		return nil, fmt.Errorf("operation token %q: %w", a.Token, fs.ErrInvalid)
	}
	top, err := os.OpenRoot(a.Root)
	if err != nil {
		return nil, fmt.Errorf("apply below %s: %w", a.Root, dir.Cause(err))
	}
	defer top.Close()
	run := newExecution(ctx, a, top, changes, progress)
	err = run.all()
	return run.outcomes, err
}

// checkChange refuses what no plan may ask for, before anything is touched.
func checkChange(c *Change) error {
	if err := checkPath(c.Path); err != nil {
		return err
	}
	if c.As != "" && (!c.Action.Removes() || checkPath(c.As) != nil) {
		return fmt.Errorf("%w: %s in place of %q", fs.ErrInvalid, c.Action, c.As)
	}
	wasDir := c.Was != nil && c.Was.Mode == object.Dir
	leaf := c.Mode.IsFile() || c.Mode == object.Symlink
	valid := false
	switch c.Action {
	case Create, Modify:
		valid = leaf && !wasDir
	case Chmod:
		valid = c.Was != nil && (c.Mode.IsFile() && c.Was.Mode.IsFile() || c.Mode == object.Dir && wasDir)
	case Delete:
		valid = !wasDir
	case Mkdir:
		valid = c.Mode == object.Dir && (c.Was == nil || wasDir)
	case Rmdir:
		valid = c.Was == nil || wasDir
	}
	if !valid || c.Perm > 0o7777 {
		return fmt.Errorf("%w: %s of mode %s", fs.ErrInvalid, c.Action, c.Mode)
	}
	return nil
}
