package odb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// Private is the name of a small file in cairn/ that a caller keeps there.
type Private string

// KeptDir is the name of the directory in cairn/ with the objects of the user's git repository that
// are kept alive (package keep).
const KeptDir = "kept"

// The private files.
const (
	PrivateGit      Private = "git"      // the newest record of the user's git repository, and the stat data that it stands for
	PrivateCleaned  Private = "cleaned"  // when the store was last cleaned, and what that did
	PrivateBudget   Private = "budget"   // the size to keep to, decided when the store was made
	PrivateReplaced Private = "replaced" // ids of commits and trees that others took the place of
	PrivateLost     Private = "lost"     // what a repair could not bring back
	PrivatePurged   Private = "purged"   // paths that are not to be captured any more
	PrivatePurging  Private = "purging"  // not empty: a purge has rewritten the history and not dropped everything yet
	PrivateReviewed Private = "reviewed" // what a reviewer decided about hunks
	PrivateProject  Private = "project"  // what the project is known by on every machine
	PrivateMachines Private = "machines" // whose the fetched lines are
	PrivateRemote   Private = "remote"   // the remote that was pushed to last
	PrivateSource   Private = "source"   // the remote from which something was fetched last
	PrivatePushed   Private = "pushed"   // what pushes to remotes have found
	PrivateSealed   Private = "sealed"   // what lies sealed on remotes, and for which keys
	PrivateSeen     Private = "seen"     // the sealed notes of other stores that were read
	PrivateForked   Private = "forked"   // of a fork: where its store came from
	PrivateMoved    Private = "moved"    // of a store that was moved: its roots before, see MovedRoots
	PrivateWhere    Private = "where"    // what tells the root from other directories of this machine, also after a rename
	PrivateForking  Private = "forking"  // of a fork that is being made: the refs that its store is going to have
)

// PrivateIn returns the path of a private file of the store in dir.
func PrivateIn(dir string, name Private) string { return filepath.Join(dir, privateDir, string(name)) }

// ReadPrivate returns the contents of a private file, ErrNotFound if there is none.
func (db *DB) ReadPrivate(name Private) ([]byte, error) {
	data, err := atomicfile.Read(db.PrivatePath(string(name)))
	if err != nil && IsSealed(db.dir) { // by another process, since it was opened
		return nil, sealedError(db.dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", db.PrivatePath(string(name)), ErrNotFound)
	}
	return data, err
}

// WritePrivate replaces a private file, completely or not at all, also where a directory has its name.
// Call it with the lock held, unless a lost update does no harm.
func (db *DB) WritePrivate(name Private, data []byte) error {
	return db.writePrivate(name, data, !db.opt.NoSync)
}

func (db *DB) writePrivate(name Private, data []byte, sync bool) error {
	if IsSealed(db.dir) { // the file would lie beside the stream, open
		return sealedError(db.dir)
	}
	if err := db.ClearPrivate(string(name)); err != nil {
		return err
	}
	return writeFile(db.PrivatePath(string(name)), data, sync)
}

// NotePrivate is WritePrivate without a wait for the disk, for a file that its reader makes again
// where it is absent or damaged: a loss of power may leave it so.
func (db *DB) NotePrivate(name Private, data []byte) error { return db.writePrivate(name, data, false) }

// DropPrivate removes a private file, if there is one. Call it with the lock held.
func (db *DB) DropPrivate(name Private) error {
	return atomicfile.RemoveIfThere(db.PrivatePath(string(name)))
}

// ClearPrivate sets aside a directory, a link or a special file in the place of a private file,
// so that the file can be written.
func (db *DB) ClearPrivate(name string) error { return db.ClearWay(db.PrivatePath(name)) }

// writeFile replaces a file of the store, completely or not at all, and with sync flushes it.
func writeFile(path string, data []byte, sync bool) error {
	return atomicfile.Write(path, 0o600, sync, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
