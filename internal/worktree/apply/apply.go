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

// Reasons why a change is not carried out, beside the system's errors.
var (
	// ErrUnsafePath: the path could lead out of the root or into a repository.
	ErrUnsafePath = errors.New("unsafe path")
	// ErrNotEmpty: a directory to remove holds other files and stays.
	ErrNotEmpty = errors.New("directory is not empty")
	// ErrWithheld: nothing but setuid and setgid bits is to change, and the superuser does not grant them.
	ErrWithheld = errors.New("setuid and setgid bits are not given, because of other users' rights in the directory")
	// ErrSpelling: the path exists under another spelling of its name.
	ErrSpelling = errors.New("the file system keeps the spelling that it has")
)

// Action is the effect of a change on its path.
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

// Makes reports whether the path exists afterwards and may have been absent before.
func (a Action) Makes() bool { return a == Create || a == Modify || a == Mkdir }

// Removes reports whether the path is absent afterwards.
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
	Was    *dir.State  // the expected state on disk; nil = absent

	// As is set for a Delete or Rmdir if another change makes a path that the file system takes for
	// the same one. It is that other path, else "".
	As string
}

// Source opens the contents to write. A reader that cannot vouch for its data fails at its end at
// the latest. Open is called from several goroutines.
type Source interface {
	Open(id object.ID) (size int64, r io.ReadCloser, err error)
}

// Outcome is the result of one change.
type Outcome struct {
	Path   string
	Action Action
	Err    error // an *fs.PathError: why the path is not in the wanted state
	Done   bool  // the path is in the wanted state, through this call or an earlier one
	Linked bool  // the replaced or removed file has other names (hard links), which keep it

	// Withheld: the file was to have setuid or setgid bits that the superuser did not grant, see owner.go.
	Withheld bool

	// Entry is the written path for the stat cache. Name is its last name, ID the verified
	// contents, and the rest is the state on disk. It is marked racy, because a file that was just
	// written can change again within one tick of the clock, unless the file system is known to
	// stamp such a change with a later time. Perm differs from the wanted bits if the file system
	// cannot hold them. Entry is zero if nothing was written, or if another process has written
	// since.
	Entry index.Entry
}

// Executor carries out plans below one directory.
type Executor struct {
	Root   string
	Source Source
	Token  string // identifies the operation and its temporary files: letters, digits, '-' and '_', at most 64
	Resume bool   // the plan may have been carried out in part
	Sync   bool   // contents, bits and names are on the medium when Run returns

	// Strict: no directory is made that the plan does not make, and none is made writable.
	Strict bool

	order func(*os.File) (device uint64, ok bool) // for tests, as flush; nil = atomicfile.Ordered
	flush func(*os.File) error                    // nil = (*os.File).Sync

	between func(path string) // for tests: called between the last look at a path and the rename or unlink

	stamps func(*os.File) atomicfile.Fine // for tests; nil = atomicfile.StampsFinely
	fine   fineStamps
}

// DirsStampFinely reports whether Run has seen that a file system gives a directory a new time with
// every change after a stat. Run probes the file systems on which it writes a file.
func (a *Executor) DirsStampFinely(device uint64) bool { return a.fine.of(device).Dirs }

// Run carries out changes and returns their outcomes, in the order of changes. A failed path does
// not stop the others: the error is only about the root, the end of ctx, and directories whose
// permission bits could not be restored.
//
//  1. Remove paths that are in the way of a path to make: a file where a
//     directory comes, a directory and its contents where a file comes,
//     and the same name in another spelling. A directory of that last kind that
//     holds other files is renamed.
//  2. Make directories, parents first, including parents that the plan lacks.
//  3. Write: a temporary file in the same directory, contents, permission bits,
//     read back and compared with the id; with Sync, flushed in groups of some
//     dozens; then, if the path still is in the expected state, exchange the two
//     names, and remove the old file if it is the expected one. No file is written
//     in place, so the other names of a hard link keep their contents.
//     They keep their permission bits as well: a Chmod of a file writes a new one,
//     unless it comes to all names of the file.
//  4. Remove the other files, deepest first: put aside by a rename, looked at once more,
//     and unlinked.
//  5. Set the permission bits of directories and remove directories, deepest first.
//  6. With Sync, flush each directory in which names changed, once. On a file system
//     that keeps order, one flush serves all; see flushes.
//
// Every step goes through directory handles, which neither follow symlinks nor leave the root. A
// directory that is moved while its handle is open is still the same directory. A directory that
// its owner may not write to is made writable and restored at the end. After a crash only the plan
// knows its original bits: a Chmod of the directory to its present bits protects them, and accepts
// the widened bits when resuming.
//
// With Resume, a path in the wanted state counts as done, whichever process made it so, and a path
// in the expected state is changed. Any other state is another writer's work and stays: ErrChanged.
//
// Not guaranteed: what another process writes into a file that it holds open while the file is replaced or
// removed is lost. So is a write in the microseconds between the last check of a file and its replacement where
// nothing can exchange two names (see swap.go). Access lists and extended attributes of a replaced file are
// those of a new file, and so are owner and group, unless the process is the superuser's (see owner.go).
//
// progress, if not nil, is called after each change, never concurrently.
func (a *Executor) Run(ctx context.Context, changes []Change, progress func(done, total int)) ([]Outcome, error) {
	if !dir.ValidToken(a.Token) {
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

// checkChange refuses an invalid change before Run touches the disk.
func checkChange(c *Change) error {
	if err := CheckPath(c.Path); err != nil {
		return err
	}
	if c.As != "" && (!c.Action.Removes() || CheckPath(c.As) != nil) {
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
