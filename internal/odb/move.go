package odb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// Used returns when a process last had the lock of a store.
func Used(dir string) (time.Time, error) {
	info, err := os.Stat(filepath.Join(dir, holderFile))
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Stat(dir) // no process ever had the lock
	}
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// List returns the paths of the directories below parent that are, or should be, stores. It
// leaves out stores that are being made or removed. A parent that does not exist has none.
func List(parent string) ([]string, error) {
	entries, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var dirs []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), atomicfile.Prefix) {
			dirs = append(dirs, filepath.Join(parent, e.Name()))
		}
	}
	return dirs, err
}

// LastUsed returns the store that was used last among those for which rootOf is ok, and its root by rootOf. Both are ""
// where there is none.
func LastUsed(stores []string, rootOf func(store string) (root string, ok bool)) (store, root string) {
	var last time.Time
	for _, s := range stores {
		at, ok := rootOf(s)
		if !ok {
			continue
		}
		if used, _ := Used(s); !used.Before(last) {
			store, root, last = s, at, used
		}
	}
	return store, root
}

// RecordedRoot returns the directory that a store belongs to, as its record says. It does not open the
// store.
func RecordedRoot(dir string) (string, error) {
	if IsSealed(dir) {
		return "", sealedError(dir)
	}
	text, err := atomicfile.Read(filepath.Join(dir, rootFile))
	if err == nil && !Proves(dir, string(text)) {
		err = fmt.Errorf("%s is damaged", filepath.Join(dir, rootFile))
	}
	return string(text), err
}

// FormerRoot returns the directory that a store belongs to. Of a store whose Move to root was interrupted it
// returns the one before: the store still has the name for it.
func FormerRoot(dir, root string) (string, error) {
	recorded, err := RecordedRoot(dir)
	if err == nil {
		return recorded, nil
	}
	if text, _ := atomicfile.Read(filepath.Join(dir, rootFile)); string(text) != root {
		return "", err
	}
	for _, m := range movedIn(dir) {
		if Proves(dir, m.Root) {
			return m.Root, nil
		}
	}
	return "", err
}

// SealedName is the file in cairn/ that holds a sealed store, encrypted (package atrest). While it is there, it
// is the store, and other files are leftovers.
const SealedName = "store.age"

// IsSealed reports whether the store in dir is sealed.
func IsSealed(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, privateDir, SealedName))
	return err == nil
}

func sealedError(dir string) error {
	return fmt.Errorf("%w: %s (cairn unseal opens it with the key)", ErrSealed, dir)
}

// OpenSealed opens a sealed store for its lock and its private files. ErrNotStore: it is not sealed.
func OpenSealed(dir string, opt Options) (*DB, error) {
	dir, err := filepath.Abs(dir)
	if err == nil && !IsSealed(dir) {
		err = fmt.Errorf("%w in %s that is sealed", ErrNotStore, dir)
	}
	if err != nil {
		return nil, err
	}
	opt.sealed = true
	return newDB(dir, "", opt), nil
}

// MarkSealed writes the version of a sealed store or that of an open one. Call it with the lock held.
func (db *DB) MarkSealed(sealed bool) error {
	version := formatVersion
	if sealed {
		version = sealedVersion
	}
	return writeFile(db.path(versionFile), []byte(version+"\n"), !db.opt.NoSync)
}

// ForkMark is the name of an empty file in cairn/. In a sealed store it says that PrivateForked is in the stream: a
// directory inside another root counts as a root of its own by that.
const ForkMark = "fork"

// AtRest lists the files in cairn/ that a sealed store has, beside SealedName: its version, files that carry locks,
// ForkMark, and PrivateWhere, which tells a renamed root from others and names no path.
func AtRest() []string {
	return []string{"version", "lock", "lock.holder", "lock.wait", "collect", "pushing", "sealing", "inuse", ForkMark, string(PrivateWhere)}
}

// Remove removes a store. It renames the store first, so that half a store never counts as one.
// After a crash, the next Create beside it removes the rest. Call it with the lock held; Remove
// releases the lock by unlock. On Windows a store of which a process has a file open stays, with
// an error.
func (db *DB) Remove(unlock func() error) error {
	parent := filepath.Dir(db.dir)
	claim, err := atomicfile.Create(parent, atomicfile.Prefix)
	if err != nil {
		return fmt.Errorf("remove store %s: %w", db.dir, errors.Join(err, unlock()))
	}
	aside := claim.Name() + AsideSuffix
	if err = db.moveAside(aside, unlock); err == nil {
		err = os.RemoveAll(aside)
	}
	if err = errors.Join(err, atomicfile.RemoveClaimed(claim)); err != nil {
		return fmt.Errorf("remove store %s: %w", db.dir, err)
	}
	return nil
}

// moveAside closes the store and renames it. On Windows an open file keeps a directory from being
// renamed, so the lock is released before. The record shows whether another process had the lock
// in between; its store is renamed back then.
func (db *DB) moveAside(aside string, unlock func() error) error {
	if !onWindows {
		err := db.Close()
		if err == nil {
			err = atomicfile.Rename(db.dir, aside)
		}
		_ = unlock() // of a lock that is gone
		return err
	}
	if err := errors.Join(unlock(), db.Close()); err != nil {
		return err
	}
	if err := atomicfile.Rename(db.dir, aside); err != nil {
		return err
	}
	if record, err := atomicfile.Read(filepath.Join(aside, holderFile)); err == nil && decodeNonce(record) == db.nonce {
		return nil
	}
	return errors.Join(fmt.Errorf("%w: another process has used it meanwhile", ErrLocked), atomicfile.Rename(aside, db.dir))
}

// Move makes a store the store of another root, and renames it to the directory to, which must be
// absent. Both lie in the same directory. The same call finishes a move that was interrupted. After an
// error the store is that of the former root, as before. The stat cache is dropped.
func Move(ctx context.Context, dir, to, root string, opt Options) error {
	opt.moving = true
	db, err := Open(dir, "", opt)
	if err != nil {
		return err
	}
	defer db.Close()
	unlock, err := db.Lock(ctx)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("move store %s: %s: %w", dir, to, fs.ErrExist), unlock())
	}
	os.Remove(db.PrivatePath("index"))
	os.Remove(db.PrivatePath("index.delta"))
	os.Remove(db.PrivatePath("index.shared"))
	back, err := db.beforeMove(root)
	if err != nil {
		return errors.Join(fmt.Errorf("move store %s: %w", dir, err), unlock())
	}
	if err = db.noteMoved(root); err == nil {
		err = writeFile(db.path(rootFile), []byte(root), !opt.NoSync)
	}
	if err = errors.Join(err, unlock(), db.Close()); err == nil {
		err = atomicfile.Rename(dir, to)
	}
	if err != nil {
		return fmt.Errorf("move store %s: %w", dir, errors.Join(err, back()))
	}
	if !opt.NoSync {
		if err := atomicfile.SyncDir(filepath.Dir(to)); err != nil {
			return fmt.Errorf("move store %s: %w", dir, err)
		}
	}
	return nil
}

// beforeMove returns a function that makes the store that of its former root again. On overlayfs, for
// instance, a directory of a lower layer cannot be renamed, and a store with the record of another root
// opens for neither.
func (db *DB) beforeMove(root string) (back func() error, err error) {
	former, err := FormerRoot(db.dir, root)
	if err != nil {
		return func() error { return nil }, nil // nothing tells what was before
	}
	moved, err := db.ReadPrivate(PrivateMoved)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	return func() error {
		err := writeFile(db.path(rootFile), []byte(former), !db.opt.NoSync)
		if err == nil && len(moved) == 0 {
			return atomicfile.RemoveIfThere(db.PrivatePath(string(PrivateMoved)))
		}
		return errors.Join(err, writeFile(db.PrivatePath(string(PrivateMoved)), moved, !db.opt.NoSync))
	}, nil
}

// MovedRoot is a former root of a store, and the time at which it was one last, in nanoseconds since 1970.
type MovedRoot struct {
	Root string
	At   int64
}

// noteMoved adds the present root to the former ones. An interrupted move has done that.
func (db *DB) noteMoved(root string) error {
	if db.root == root {
		return nil
	}
	data, err := db.ReadPrivate(PrivateMoved)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return db.WritePrivate(PrivateMoved, fmt.Appendf(data, "%d %q\n", time.Now().UnixNano(), db.root))
}

// MovedRoots lists the former roots of a store that was moved, oldest first. Lines that it does not know are left out.
func (db *DB) MovedRoots() ([]MovedRoot, error) {
	data, err := db.ReadPrivate(PrivateMoved)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return movedRoots(data), err
}

// WasAt reports whether the store in dir was that of root before.
func WasAt(dir, root string) bool {
	return slices.ContainsFunc(movedIn(dir), func(m MovedRoot) bool { return m.Root == root })
}

// movedIn is MovedRoots for a store that is not open. A list that cannot be read is empty.
func movedIn(dir string) []MovedRoot {
	data, _ := atomicfile.Read(PrivateIn(dir, PrivateMoved))
	return movedRoots(data)
}

func movedRoots(data []byte) (list []MovedRoot) {
	for line := range strings.Lines(string(data)) {
		var m MovedRoot
		if n, err := fmt.Sscanf(line, "%d %q\n", &m.At, &m.Root); err == nil && n == 2 {
			list = append(list, m)
		}
	}
	return list
}
