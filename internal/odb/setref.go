package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// RefUpdate is a ref and its new value.
type RefUpdate struct {
	Name string
	ID   object.ID
}

// SetRef points a ref to an object, which is not looked up. The name follows the
// rules of git check-ref-format and begins with refs/.
func (db *DB) SetRef(name string, id object.ID) error { return db.SetRefs(RefUpdate{name, id}) }

// SetRefs is SetRef for several refs, with one wait for the disk. It puts them in place in their
// order.
func (db *DB) SetRefs(updates ...RefUpdate) error {
	writes, err := db.prepareRefs(updates)
	if err != nil || len(writes) == 0 {
		return err
	}
	defer discardRefs(writes)
	log, err := db.logForRefs()
	if err != nil {
		return fmt.Errorf("set ref %s: %w", updates[0].Name, err)
	}
	defer log.Unlock()
	if log != nil {
		return db.setLogged(log, writes)
	}
	return db.setFlushed(writes)
}

func (db *DB) setFlushed(writes []refWrite) error {
	if err := db.flush(tempFiles(writes)...); err != nil {
		return fmt.Errorf("set ref %s: %w", writes[0].name, err)
	}
	return db.moveRefs(writes)
}

// refWrite is a ref in a temporary file.
type refWrite struct {
	name, file, content string
	id                  object.ID
	temp                *os.File
}

func tempFiles(writes []refWrite) (files []*os.File) {
	for _, w := range writes {
		files = append(files, w.temp)
	}
	return files
}

// prepareRefs writes refs to temporary files.
func (db *DB) prepareRefs(updates []RefUpdate) ([]refWrite, error) {
	writes, err := db.checkRefs(updates)
	if err != nil {
		return nil, err
	}
	if err := db.writeTempRefs(writes); err != nil {
		discardRefs(writes)
		return nil, err
	}
	return writes, nil
}

// checkRefs validates updates and prepares the contents of their files.
func (db *DB) checkRefs(updates []RefUpdate) (writes []refWrite, err error) {
	if len(updates) == 0 {
		return nil, nil
	}
	packed, err := db.packedRefs()
	if err != nil {
		return nil, err
	}
	for _, u := range updates {
		if err := db.checkRefUpdate(u, packed); err != nil {
			return nil, fmt.Errorf("set ref %s: %w", u.Name, err)
		}
		writes = append(writes, refWrite{name: u.Name, id: u.ID, file: db.refPath(u.Name), content: u.ID.String() + "\n"})
	}
	return writes, nil
}

// writeTempRefs writes the temporary files.
func (db *DB) writeTempRefs(writes []refWrite) (err error) {
	for i := range writes {
		if writes[i].temp, err = db.newRefTemp(writes[i].content); err != nil {
			return fmt.Errorf("set ref %s: %w", writes[i].name, err)
		}
	}
	return nil
}

// newRefTemp writes a temporary file in cairn/, where git does not look and Sweep does.
func (db *DB) newRefTemp(content string) (*os.File, error) {
	return atomicfile.CreateWith(db.path(privateDir), atomicfile.Prefix, []byte(content))
}

func (db *DB) checkRefUpdate(u RefUpdate, packed packedRefs) error {
	if err := checkRefName(u.Name); err != nil {
		return err
	}
	if u.ID.IsZero() {
		return errors.New("no object")
	}
	return db.refConflict(u.Name, packed)
}

// discardRefs removes the temporary files that were not renamed.
func discardRefs(writes []refWrite) {
	for _, w := range writes {
		if w.temp != nil && w.temp.Close() == nil { // a file that was renamed is closed
			os.Remove(w.temp.Name())
		}
	}
}

// moveRefs puts flushed refs in place and flushes their directories, together with dirs.
func (db *DB) moveRefs(writes []refWrite, dirs ...string) error {
	dirs = append(dirs, makeRefDirs(writes)...)
	if err := db.placeRefs(writes); err != nil {
		return err
	}
	for _, w := range writes {
		dirs = append(dirs, filepath.Dir(w.file))
	}
	slices.Sort(dirs)
	return db.syncDirs(slices.Compact(dirs)...)
}

// makeRefDirs makes directories of refs, and returns those with new names in them, which the caller
// flushes. A directory that cannot be made is left to moveRef.
func makeRefDirs(writes []refWrite) (changed []string) {
	for _, w := range writes {
		if dir := filepath.Dir(w.file); os.Mkdir(dir, 0o700) == nil {
			changed = append(changed, filepath.Dir(dir))
		}
	}
	return changed
}

func (db *DB) placeRefs(writes []refWrite) error {
	for _, w := range writes {
		if err := db.placeRef(w); err != nil {
			return fmt.Errorf("set ref %s: %w", w.name, err)
		}
	}
	return nil
}

func (db *DB) placeRef(w refWrite) error {
	if err := db.putRef(w); err != nil || db.survives(w.file) {
		return err
	}
	return db.writeRef(w.file, w.content)
}

// putRef renames the temporary file of a ref to the ref.
func (db *DB) putRef(w refWrite) error {
	err := w.temp.Close() // Windows does not rename open files
	if err == nil {
		err = db.moveRef(w.temp.Name(), w.file)
	}
	if err != nil {
		os.Remove(w.temp.Name())
	}
	return err
}

// writeRef replaces a ref file. Git moves a ref into packed-refs in three steps: it reads the
// ref, writes packed-refs and removes the file, all under a .lock beside the file. If the file is
// replaced in between, git removes the new one. So writeRef waits for a lock that is there after
// the replacement, and then writes the file again if it is gone. It waits for a short time only,
// and not for an old lock, which a killed git may have left.
func (db *DB) writeRef(file, content string) error {
	for range 10 {
		if err := db.replaceRef(file, content); err != nil {
			return err
		}
		if db.survives(file) {
			return nil
		}
	}
	return errors.New("the ref vanishes as soon as it is written")
}

// survives waits for a git that has the lock of a ref, and reports whether the file of the ref is
// still there.
func (db *DB) survives(file string) bool {
	if info, err := os.Lstat(file + ".lock"); err == nil && time.Since(info.ModTime()).Abs() < refLockAge {
		waitFor(file+".lock", db.refLockWait)
	}
	_, err := os.Lstat(file)
	return err == nil
}

// Git holds the lock of a ref for the time of a few renames.
const (
	refLockWait = 50 * time.Millisecond
	refLockAge  = time.Minute
)

// waitFor waits until there is no file at path, for at most limit.
func waitFor(path string, limit time.Duration) {
	for end := time.Now().Add(limit); ; time.Sleep(time.Millisecond) {
		if _, err := os.Lstat(path); err != nil || time.Now().After(end) {
			return
		}
	}
}

// replaceRef writes a ref file by way of a temporary one.
func (db *DB) replaceRef(file, content string) error {
	temp, err := db.newRefTemp(content)
	if err != nil {
		return err
	}
	if err := db.flush(temp); err != nil {
		atomicfile.Discard(temp)
		return err
	}
	if err := db.putRef(refWrite{file: file, content: content, temp: temp}); err != nil {
		return err
	}
	return db.syncDirs(filepath.Dir(file))
}

// moveRef renames a temporary file to a ref and makes the directories above it. It removes empty
// directories in the place of the ref, and makes directories again that git removes at the same
// time.
func (db *DB) moveRef(temp, file string) (err error) {
	for range 10 {
		var left bool
		if left, err = atomicfile.Replace(temp, file); left {
			os.Remove(temp)
		}
		if err == nil {
			return nil
		}
		if info, serr := os.Lstat(file); serr == nil && info.IsDir() {
			if rerr := removeEmpty(file); rerr != nil {
				return rerr
			}
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return err
		}
		if derr := db.makeDir(filepath.Dir(file)); derr != nil && !errors.Is(derr, fs.ErrNotExist) {
			return derr
		}
	}
	return err
}

// removeEmpty removes a directory that holds nothing but empty directories.
func removeEmpty(dir string) error {
	names, err := readNames(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.IsDir() {
			removeEmpty(filepath.Join(dir, name))
		}
	}
	return os.Remove(dir)
}

// DropRef is DeleteRef for a ref that may be absent.
func (db *DB) DropRef(name string) error {
	if err := db.DeleteRef(name); !errors.Is(err, ErrNotFound) {
		return err
	}
	return nil
}

// DeleteRef removes a ref. An absent ref is ErrNotFound.
func (db *DB) DeleteRef(name string) error {
	if err := checkRefName(name); err != nil {
		return err
	}
	log, err := db.logForRefs()
	if err == nil {
		defer log.Unlock()
		if log != nil {
			err = db.deleteLogged(log, name)
		} else {
			err = db.deleteFlushed(name)
		}
	}
	if err != nil {
		return fmt.Errorf("delete ref %s: %w", name, err)
	}
	return nil
}

func (db *DB) deleteFlushed(name string) error {
	removed, err := db.removeRef(name)
	if err != nil || !removed {
		return err
	}
	return db.syncDirs(filepath.Dir(db.refPath(name)))
}

// removeRef removes a ref from packed-refs first: otherwise a crash would bring an old value
// back. file reports whether the ref had a file.
func (db *DB) removeRef(name string) (file bool, err error) {
	packed, err := db.unpackRef(name)
	if err != nil {
		return false, err
	}
	info, err := os.Lstat(db.refPath(name))
	if err == nil && !info.IsDir() {
		err = os.Remove(db.refPath(name))
	}
	switch {
	case (err == nil && info.IsDir() || atomicfile.IsNoFile(err)) && packed:
		return false, nil
	case err == nil && info.IsDir(), atomicfile.IsNoFile(err):
		return false, ErrNotFound
	}
	return err == nil, err
}
