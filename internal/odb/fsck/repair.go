package fsck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// ErrNoRepair says that Repair can do nothing about a fault.
var ErrNoRepair = errors.New("cannot be repaired")

// Repair does what the fault says, as far as the fault is still there. It sets aside what cannot
// be used, in cairn/damaged; DB.DropDamaged removes that. Call it with the lock held, except for a
// FaultLock, which keeps every process from getting the lock.
//
// A stat cache that remembers the names of packs has to be dropped after the repair of a pack:
// objects may be gone that it relies on.
func Repair(ctx context.Context, db *odb.DB, f Fault) error {
	if f.Repair == "" {
		return ErrNoRepair
	}
	if _, ok := inside(db, f.Path); !ok && (f.Kind != FaultMode || f.Path != db.Dir()) {
		return fmt.Errorf("%s lies outside the store: %w", f.Path, ErrNoRepair)
	}
	err := db.ClearPrivate("redo")
	if err == nil {
		err = db.DropLog()
	}
	if err == nil {
		err = repair(ctx, db, f)
	}
	if err != nil {
		err = fmt.Errorf("repair %s: %w", f.Path, err)
	}
	return err
}

func repair(ctx context.Context, db *odb.DB, f Fault) error {
	switch f.Kind {
	case FaultPack, FaultIndex:
		return salvagePack(ctx, db, strings.TrimSuffix(f.Path, filepath.Ext(f.Path)))
	case FaultUnknown:
		if isFile(f.Path) {
			return ErrNoRepair
		}
		return clearWay(db, f.Path)
	case FaultObject, FaultJournal:
		return setAside(db, f.Path)
	case FaultRef:
		if f.Path == storePath(db, "packed-refs") {
			return db.SalvagePackedRefs()
		}
		return setAside(db, f.Path)
	case FaultTemporary:
		return removeTemporary(db, f.Path)
	case FaultLock:
		return db.RemoveForeignHolder()
	case FaultMode:
		return restrict(f.Path)
	case FaultLayout:
		return remake(db, f.Path)
	}
	return ErrNoRepair
}

// setAside sets a file aside, or anything else in the place of a file. A directory of the layout
// stays.
func setAside(db *odb.DB, path string) error {
	rel, _ := inside(db, path)
	if isDir(path) && !odb.FileName(rel) {
		return ErrNoRepair
	}
	return db.SetAside(path)
}

// clearWay sets aside anything at a path that is not a regular file.
func clearWay(db *odb.DB, path string) error {
	if fileMissing(path) || isFile(path) {
		return nil
	}
	return setAside(db, path)
}

// RepairLock sets aside anything that stands in the place of the files of the locks and is not a
// regular file, because without them nothing can be locked and repaired. It makes a missing file
// of the lock again. It returns the paths.
func RepairLock(db *odb.DB) (repaired []string, err error) {
	for _, name := range []string{"lock", "lock.holder", "lock.wait", "collect", "redo"} {
		path := db.PrivatePath(name)
		if fileMissing(path) || isFile(path) {
			continue
		}
		if err := db.SetAside(path); err != nil {
			return repaired, fmt.Errorf("repair %s: %w", path, err)
		}
		repaired = append(repaired, path)
	}
	lock := db.PrivatePath("lock")
	if !fileMissing(lock) {
		return repaired, nil
	}
	_, err = db.Remake(lock)
	return append(repaired, lock), err
}

// removeTemporary removes a file that a dead writer left. A temporary file of cairn's shows whether
// its writer is dead. Verify has judged those of git's by their age.
func removeTemporary(db *odb.DB, path string) error {
	base := filepath.Base(path)
	if strings.HasPrefix(base, odb.GonePrefix) {
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

// restrict takes the permissions of a file or directory away from other users. The permissions
// of a borrowed pack belong to its lender.
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
	case info.Mode().IsRegular() && !odb.Lent(path, info):
		return os.Chmod(path, 0o600)
	}
	return ErrNoRepair
}

// remake makes a file or directory of the layout again.
func remake(db *odb.DB, path string) error {
	if path == storePath(db, "shallow") {
		return repairShallow(db, path)
	}
	ok, err := db.Remake(path)
	if !ok {
		return ErrNoRepair
	}
	return err
}

// repairShallow keeps the ids that can be read. The parents of the other commits count as missing
// afterwards.
func repairShallow(db *odb.DB, path string) error {
	if err := db.ClearWay(path); err != nil {
		return err
	}
	data, err := atomicfile.Read(path)
	if err != nil {
		return atomicfile.IgnoreMissing(err)
	}
	if err := db.SetAside(path); err != nil {
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
