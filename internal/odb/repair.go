package odb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// ErrNoRepair says that there is nothing that Repair can do about a fault.
var ErrNoRepair = errors.New("cannot be repaired")

// Repair does what the fault says, as far as it is still there. Nothing is thrown
// away but temporary files: what cannot be used goes to cairn/damaged, where it
// disturbs nobody; DropDamaged removes that. Call it with the lock held, except for a
// FaultLock, which keeps everybody from getting it.
//
// A stat cache that remembers the names of packs has to be dropped after the repair
// of a pack: objects may be gone that it takes for granted.
func (db *DB) Repair(ctx context.Context, f Fault) error {
	if f.Repair == "" {
		return ErrNoRepair
	}
	if !db.inside(f.Path) && (f.Kind != FaultMode || f.Path != db.dir) {
		return fmt.Errorf("%s lies outside the store: %w", f.Path, ErrNoRepair)
	}
	err := db.clearWay(db.path(redoFile))
	if err == nil {
		err = db.wipeRedo()
	}
	if err == nil {
		err = db.repair(ctx, f)
	}
	if err != nil {
		err = fmt.Errorf("repair %s: %w", f.Path, err)
	}
	return err
}

func (db *DB) repair(ctx context.Context, f Fault) error {
	switch f.Kind {
	case FaultPack, FaultIndex:
		return db.repairPack(ctx, strings.TrimSuffix(f.Path, filepath.Ext(f.Path)))
	case FaultUnknown:
		if isFile(f.Path) {
			return ErrNoRepair
		}
		return db.clearWay(f.Path)
	case FaultObject, FaultJournal:
		return db.setAside(f.Path)
	case FaultRef:
		if f.Path == db.path("packed-refs") {
			return db.repairPackedRefs()
		}
		return db.setAside(f.Path)
	case FaultTemporary:
		return db.removeTemporary(f.Path)
	case FaultLock:
		return db.removeForeignHolder()
	case FaultMode:
		return restrict(f.Path)
	case FaultLayout:
		return db.remake(f.Path)
	}
	return ErrNoRepair
}

// setAside moves a file to cairn/damaged, or whatever stands where a file belongs.
func (db *DB) setAside(path string) error {
	rel, err := filepath.Rel(db.dir, path)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(path); err == nil && info.IsDir() && !isFileName(filepath.ToSlash(rel)) {
		return ErrNoRepair
	}
	if err := db.makeDir(db.path(damagedDir)); err != nil {
		return err
	}
	name := strings.ReplaceAll(filepath.ToSlash(rel), "/", "+")
	if len(name) > 200 {
		name = name[len(name)-200:]
	}
	to := db.path(damagedDir, name)
	for n := 1; !fileMissing(to); n++ {
		to = db.path(damagedDir, fmt.Sprintf("%s.%d", name, n))
	}
	if err := atomicfile.Rename(path, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if db.opt.NoSync {
		return nil
	}
	return errors.Join(atomicfile.SyncDir(filepath.Dir(path)), atomicfile.SyncDir(db.path(damagedDir)))
}

// RepairLock sets aside what stands in place of the files of the lock and is no regular
// file: nothing can be locked then, and so nothing be repaired. It returns the paths.
func (db *DB) RepairLock() (repaired []string, err error) {
	for _, name := range []string{lockFile, holderFile, waitFile, collectFile, redoFile} {
		if !db.isOdd(name) {
			continue
		}
		if err := db.clearWay(db.path(name)); err != nil {
			return repaired, fmt.Errorf("repair %s: %w", db.path(name), err)
		}
		repaired = append(repaired, db.path(name))
	}
	if !fileMissing(db.path(lockFile)) {
		return repaired, nil
	}
	return append(repaired, db.path(lockFile)), writeFile(db.path(lockFile), nil, !db.opt.NoSync)
}

// clearWay sets aside what is no regular file.
func (db *DB) clearWay(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().IsRegular() {
		return ignoreMissing(err)
	}
	return db.setAside(path)
}

// repairPackedRefs keeps the lines that name a ref, with what belongs to them.
func (db *DB) repairPackedRefs() (err error) {
	unlock, err := db.lockPackedRefs()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	path := db.path("packed-refs")
	data, err := atomicfile.Read(path)
	if err != nil {
		return err
	}
	var good strings.Builder
	dropping := false
	for line := range strings.Lines(string(data)) {
		r, ok := parsePackedRef(line, 0)
		switch {
		case ok:
			dropping = r.Err != nil
		case line[0] == '#':
			dropping = false
		}
		if !dropping {
			good.WriteString(line)
		}
	}
	if err := db.setAside(path); err != nil {
		return err
	}
	return writeFile(path, []byte(good.String()), !db.opt.NoSync)
}

// removeTemporary removes a file that a dead writer left. Ours show whether the
// writer is dead; that git's are has been judged by whoever asks for this.
func (db *DB) removeTemporary(path string) error {
	base := filepath.Base(path)
	if strings.HasPrefix(base, gonePrefix) {
		return db.Sweep()
	}
	if strings.HasPrefix(base, atomicfile.Prefix) || strings.HasPrefix(base, pack.TempPrefix) {
		_, err := atomicfile.RemoveDead(path)
		return err
	}
	if !strings.HasPrefix(base, "tmp_") && !strings.HasSuffix(base, ".lock") {
		return ErrNoRepair
	}
	return atomicfile.RemoveIfThere(path)
}

// removeForeignHolder removes the record of a holder on another machine, unless
// somebody here has the lock.
func (db *DB) removeForeignHolder() error {
	fl := flock.New(db.path(lockFile))
	ok, err := fl.TryLock()
	if err != nil {
		return err
	}
	defer fl.Close()
	if !ok {
		return ErrLocked
	}
	if h := readHolder(db.path(holderFile)); h.PID == 0 || !h.foreign() {
		return nil
	}
	return os.Remove(db.path(holderFile))
}

// restrict takes all permissions away from others.
func restrict(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return os.Chmod(path, 0o700)
	case info.Mode().IsRegular() && !isLent(path, info):
		return os.Chmod(path, 0o600)
	}
	return ErrNoRepair
}

// remake makes a file or directory of the layout anew.
func (db *DB) remake(path string) error {
	if path == db.path(shallowFile) {
		return db.repairShallow()
	}
	for _, name := range skeletonDirs {
		if db.path(name) != path {
			continue
		}
		if info, err := os.Lstat(path); err == nil && !info.IsDir() {
			if err := db.setAside(path); err != nil {
				return err
			}
		}
		return db.makeDir(path)
	}
	for name, content := range db.skeleton() {
		if db.path(name) != path {
			continue
		}
		if !fileMissing(path) {
			if err := db.setAside(path); err != nil {
				return err
			}
		}
		return writeFile(path, []byte(content), !db.opt.NoSync)
	}
	return ErrNoRepair
}

// repairShallow keeps the ids that can be read. What came before the others then
// counts as missing.
func (db *DB) repairShallow() error {
	path := db.path(shallowFile)
	if err := db.clearWay(path); err != nil {
		return err
	}
	data, err := atomicfile.Read(path)
	if err != nil {
		return ignoreMissing(err)
	}
	if err := db.setAside(path); err != nil {
		return err
	}
	var ids []object.ID
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		if id, err := object.ParseID(string(bytes.TrimSpace(line))); err == nil {
			ids = append(ids, id)
		}
	}
	return db.SetShallow(ids)
}
