package odb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// formatVersion is the contents of cairn/version. A change that an older program would misread
// gets the next number.
const formatVersion = "1"

// sealedVersion is the version of a sealed store. An earlier program refuses it. An open store has it for
// a moment while it is sealed or opened, and after a kill in that moment until the next Sweep.
const sealedVersion = "2"

// Paths inside a store, with the separator of the system.
var (
	privateDir  = "cairn"
	versionFile = filepath.Join(privateDir, "version")
	rootFile    = filepath.Join(privateDir, "root")
	lockFile    = filepath.Join(privateDir, "lock")
	holderFile  = filepath.Join(privateDir, "lock.holder")
	waitFile    = filepath.Join(privateDir, "lock.wait")
	damagedDir  = filepath.Join(privateDir, "damaged")
	journalDir  = filepath.Join(privateDir, "journal")
	packDir     = filepath.Join("objects", "pack")
)

// config keeps git from tidying up by itself: a collection at the wrong moment would remove objects
// that a capture is about to refer to. A git gc by a user keeps unreachable objects: a capture in
// progress may be about to refer to them, and the vault reads objects of the store, see package keep.
const config = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = true
[gc]
	auto = 0
	pruneExpire = never
[maintenance]
	auto = false
[receive]
	autogc = false
`

// pruneNever is the part of the configuration that stores of earlier releases lack.
const pruneNever = "[gc]\n\tpruneExpire = never\n"

// completeConfig adds what the configuration of a store of an earlier release lacks. A value that a user has set
// stays. The caller has the lock. The store works without: a failure is tried again by the next process.
func (db *DB) completeConfig() {
	path := db.path("config")
	data, err := atomicfile.Read(path)
	if err != nil || len(data) == 0 || strings.Contains(strings.ToLower(string(data)), "pruneexpire") {
		return
	}
	text := strings.TrimSuffix(string(data), "\n") + "\n" + pruneNever
	_ = atomicfile.Write(path, 0o600, !db.opt.NoSync, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// skeletonDirs are the directories of a new store, skeletonFiles its files and their contents
// without cairn/root.
var skeletonDirs = []string{
	"objects", filepath.Join("objects", "info"), packDir,
	"refs", filepath.Join("refs", "heads"), filepath.Join("refs", "tags"), filepath.Join("refs", "cairn"),
	privateDir, journalDir,
}

var skeletonFiles = map[string]string{
	"HEAD":      "ref: refs/heads/cairn\n",
	"config":    config,
	versionFile: formatVersion + "\n",
	lockFile:    "",
}

// skeleton returns the files of this store and their first contents.
func (db *DB) skeleton() map[string]string {
	files := maps.Clone(skeletonFiles)
	files[rootFile] = db.root
	return files
}

// Create makes a store for root, an absolute path, in dir and opens it. If there is a store
// already, or another process makes one at the same time, Create opens that.
//
// The store is made in a sibling directory and renamed into place, so that half a store never
// counts as one. Create removes the siblings of dead processes.
func Create(dir, root string, opt Options) (*DB, error) {
	if !filepath.IsAbs(root) {
		return nil, fmt.Errorf("create store %s: its root %q is not an absolute path", dir, root)
	}
	db, err := Open(dir, root, opt)
	if !errors.Is(err, ErrNotStore) {
		return db, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if err := makeStore(dir, root, !opt.NoSync); err != nil {
		return nil, fmt.Errorf("create store %s: %w", dir, err)
	}
	return Open(dir, root, opt)
}

// AsideSuffix ends the name of the directory in which a store is made. The rest of the name is
// the name of a claim, the temporary file of the process that makes it. The claim is made before
// the directory and removed after it.
const AsideSuffix = ".store"

func makeStore(dir, root string, sync bool) (err error) {
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return err
	}
	if err := sweepAside(parent); err != nil {
		return err
	}
	claim, err := atomicfile.Create(parent, atomicfile.Prefix)
	if err != nil {
		return err
	}
	aside := claim.Name() + AsideSuffix
	defer func() {
		err = errors.Join(err, os.RemoveAll(aside), atomicfile.RemoveClaimed(claim))
	}()
	if err := writeSkeleton(aside, root, sync); err != nil {
		return err
	}
	if err := moveStore(aside, dir); err != nil || !sync {
		return err
	}
	return atomicfile.SyncDir(parent)
}

func writeSkeleton(dir, root string, durable bool) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for _, name := range skeletonDirs {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			return err
		}
	}
	files := maps.Clone(skeletonFiles)
	files[rootFile] = root
	var made []*os.File
	for name, content := range files {
		f, err := writeNew(filepath.Join(dir, name), content)
		if err != nil {
			return err
		}
		defer f.Close()
		made = append(made, f)
	}
	if !durable {
		return nil
	}
	return atOnce(
		func() error { return atomicfile.AtOnce(made, (*os.File).Sync) },
		func() error {
			return atomicfile.AtOnce(append([]string{"."}, skeletonDirs...), func(name string) error {
				return atomicfile.SyncDir(filepath.Join(dir, name))
			})
		},
	)
}

// moveStore renames a finished store into place. If a store is there by now, another process was
// faster, and its store stays. An empty directory is replaced, and nothing else.
func moveStore(aside, dir string) error {
	err := atomicfile.Rename(aside, dir)
	if err == nil || checkLayout(dir) == nil {
		return nil
	}
	// Windows does not rename over an empty directory.
	if info, serr := os.Lstat(dir); serr != nil || !info.IsDir() || os.Remove(dir) != nil {
		return err
	}
	if err = atomicfile.Rename(aside, dir); err == nil || checkLayout(dir) == nil {
		return nil
	}
	return err
}

// checkLayout returns ErrNotStore where there is no store, and otherwise the reason why this
// program cannot use it: errors.ErrUnsupported for a store of a later program. Another process may seal
// the store, and open it again, while this one looks, so damage is looked for twice.
func checkLayout(dir string) error {
	err := checkOnce(dir)
	if errors.Is(err, pack.ErrCorrupt) {
		err = checkOnce(dir)
	}
	return err
}

func checkOnce(dir string) error {
	if IsSealed(dir) {
		return sealedError(dir)
	}
	text, err := atomicfile.Read(filepath.Join(dir, versionFile))
	switch version := strings.TrimSpace(string(text)); {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("open store: %w", err)
	case isNewer(version):
		return newerError(fmt.Sprintf("store %s has format version %.20q, this program knows version %s only; use a newer cairn",
			dir, version, formatVersion))
	case err == nil && KnownVersion(version), hasStoreDirs(dir):
		return checkStoreDirs(dir)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w in %s", ErrNotStore, dir)
	case err != nil:
		return fmt.Errorf("open store: %w", err)
	}
	return fmt.Errorf("%w: %s: no version of a store", pack.ErrCorrupt, filepath.Join(dir, versionFile))
}

// KnownVersion reports whether this program reads an open store with a version: its own, or that of a sealed store.
func KnownVersion(version string) bool { return version == formatVersion || version == sealedVersion }

// newerError is the error for a store of a later program.
type newerError string

func (e newerError) Error() string   { return string(e) }
func (newerError) Is(err error) bool { return err == errors.ErrUnsupported }

// isNewer reports whether a version is a later one. A version that is no number is damage; the
// directories show a store then, and a repair writes the version again.
func isNewer(version string) bool {
	n, err := strconv.Atoi(version)
	return err == nil && n > 2
}

// storeDirs are the directories without which a store cannot be repaired.
var storeDirs = []string{"objects", "refs", privateDir}

func checkStoreDirs(dir string) error {
	for _, name := range storeDirs {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is no directory", name)
		}
		if err != nil {
			return fmt.Errorf("%w: %s: %w", pack.ErrCorrupt, dir, err)
		}
	}
	return nil
}

// hasStoreDirs reports whether a directory without a readable version is a store. No other git
// repository has a directory cairn with a journal.
func hasStoreDirs(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, journalDir))
	return err == nil && info.IsDir() && checkStoreDirs(dir) == nil
}

// writeNew writes a file that does not exist yet.
func writeNew(path, content string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err = f.WriteString(content); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// makeDir makes a directory below the store, with the directories above it, and flushes the names
// of new ones. Where the file system keeps changes in order, the flush of what the caller puts into
// the directory covers them.
func (db *DB) makeDir(path string) error {
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrNotExist) && len(path) > len(db.dir) {
		if err := db.makeDir(filepath.Dir(path)); err != nil {
			return err
		}
		err = os.Mkdir(path, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		if info, serr := os.Stat(path); serr == nil && info.IsDir() {
			return nil
		}
	}
	if err != nil || db.inOrder() {
		return err
	}
	return db.syncDirs(filepath.Dir(path))
}

// readNames lists a directory in no particular order.
func readNames(dir string) ([]string, error) {
	d, err := atomicfile.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

// TempDir makes an empty directory in the store for one piece of work. Sweep removes it when this
// process has died. remove removes it.
func (db *DB) TempDir() (dir string, remove func() error, err error) {
	claim, err := atomicfile.Create(db.path(privateDir), atomicfile.Prefix)
	if err != nil {
		return "", nil, err
	}
	dir = claim.Name() + AsideSuffix
	remove = func() error { return errors.Join(os.RemoveAll(dir), atomicfile.RemoveClaimed(claim)) }
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return dir, remove, nil
}

func fileMissing(path string) bool {
	_, err := os.Lstat(path)
	return err != nil
}
