package odb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// order prepares a log that somebody else has written. Records of another boot, or of
// another mount, are redone. The last one of this boot may be that of a process that
// was killed before it had done what it promised; nobody was told of it, so it goes,
// lest it be done after others have gone on without it.
func (h *redoHold) order() error {
	records := h.scan()
	if len(records) == 0 {
		return nil
	}
	token, ok := h.db.redo.token()
	if !ok || slices.ContainsFunc(records, func(r redoRecord) bool { return r.token != token }) {
		return h.recover(records)
	}
	if last := records[len(records)-1]; !h.db.isDone(&last) {
		return h.settle()
	}
	return nil
}

// isDone reports whether everything that a record promised is there.
func (db *DB) isDone(r *redoRecord) bool {
	if r.name != "" && fileMissing(newPack(db.path(packDir), r.name).stem+idxExt) {
		return false
	}
	for _, ref := range r.refs {
		if now, err := db.refNow(ref.name); err != nil || now != ref.to {
			return false
		}
	}
	return true
}

// refNow is the value of a ref, zero if there is none.
func (db *DB) refNow(name string) (object.ID, error) {
	id, err := db.Ref(name)
	if errors.Is(err, ErrNotFound) {
		return object.ID{}, nil
	}
	return id, err
}

// recoverWait bounds the wait for the lock of the store when it is opened after a loss
// of power.
const recoverWait = time.Minute

// recover is called when a store is opened: what a loss of power took is brought back
// before anybody looks. Where the store cannot be written to, it stays as it is.
func (db *DB) recover() error {
	if !db.isStale() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), recoverWait)
	defer cancel()
	unlock, err := db.Lock(ctx)
	if err == nil {
		var h *redoHold
		h, err = db.holdRedo()
		h.release()
		err = errors.Join(err, unlock())
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || err != nil && !db.isStale() {
		return nil
	}
	if err != nil {
		return fmt.Errorf("recover store %s after a loss of power: %w", db.dir, err)
	}
	return nil
}

// isStale reports whether the log holds something of another boot. The first record
// tells: nobody appends to such a log before it has been redone.
func (db *DB) isStale() bool {
	f, err := os.Open(db.path(redoFile))
	if err != nil {
		return false
	}
	defer f.Close()
	h := &redoHold{db: db, file: f}
	salt, err := h.head()
	if err != nil {
		return false
	}
	body, _, _ := h.record(int64(redoHead), saltSum(salt))
	if body == nil {
		return false
	}
	token, ok := db.redo.token()
	return !ok || !bytes.HasPrefix(body, token[:])
}

// recover makes sure of everything that the log promised, in its order, and empties
// it. It ends at a record whose pack should be on the disk and is not: its publish
// never returned.
func (h *redoHold) recover(records []redoRecord) error {
	for i := range records {
		ok, err := h.db.redoPack(&records[i])
		if err != nil {
			return err
		}
		if !ok {
			records = records[:i]
			break
		}
	}
	if err := h.db.refresh(true); err != nil {
		return err
	}
	if err := h.db.redoRefs(records); err != nil {
		return err
	}
	return h.settleAll(records)
}

// redoPack writes the files of a pack unless they are there, and as they should be.
func (db *DB) redoPack(r *redoRecord) (ok bool, err error) {
	if r.name == "" {
		return true, nil
	}
	stem := newPack(db.path(packDir), r.name).stem
	if len(r.pack) == 0 {
		return !fileMissing(stem+packExt) && !fileMissing(stem+idxExt), nil
	}
	for _, file := range []struct {
		path string
		want []byte
	}{{stem + packExt, r.pack}, {stem + idxExt, r.idx}} {
		got, err := os.ReadFile(file.path)
		if err == nil && bytes.Equal(got, file.want) {
			continue
		}
		if err := atomicfile.Write(file.path, 0o600, false, func(w io.Writer) error {
			_, err := w.Write(file.want)
			return err
		}); err != nil {
			return false, err
		}
	}
	return true, nil
}

// redoRefs gives each ref the last value that was promised, if it has one of those that
// it had on the way there, or makes no sense, or is gone. Another value comes from
// somebody who knows nothing of the log, a git or an older cairn, and stays.
func (db *DB) redoRefs(records []redoRecord) error {
	last := make(map[string]object.ID)
	had := make(map[redoRef]bool)
	for _, r := range records {
		for _, ref := range r.refs {
			last[ref.name] = ref.to
			had[redoRef{name: ref.name, to: ref.from}] = true
			had[redoRef{name: ref.name, to: ref.to}] = true
		}
	}
	for name, to := range last {
		now, err := db.refNow(name)
		if err == nil && (now == to || !now.IsZero() && !had[redoRef{name: name, to: now}]) {
			continue
		}
		if err := db.redoRef(name, to); err != nil {
			return fmt.Errorf("redo ref %s: %w", name, err)
		}
	}
	return nil
}

func (db *DB) redoRef(name string, to object.ID) error {
	if !to.IsZero() {
		return db.writeRef(db.refPath(name), to.String()+"\n")
	}
	_, err := db.removeRef(name)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// settle flushes everything that the log vouches for and empties it. Packs whose
// objects are in others, which are on the disk, are left out.
func (h *redoHold) settle(superseded ...*pack) error {
	return h.settleAll(h.scan(), superseded...)
}

func (h *redoHold) settleAll(records []redoRecord, superseded ...*pack) error {
	files, dirs := h.db.vouchedFor(records, superseded)
	if err := flushPaths(files); err != nil {
		return err
	}
	if err := flushDirs(dirs); err != nil {
		return err
	}
	return h.reset()
}

// vouchedFor returns the files that records are about, and the directories of these.
// The directories of the packs and of the refs are among them in any case.
func (db *DB) vouchedFor(records []redoRecord, superseded []*pack) (files, dirs []string) {
	seen := make(map[string]bool)
	note := func(path string, dir string) {
		if !seen[path] {
			seen[path] = true
			files = append(files, path)
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, r := range records {
		stem := newPack(db.path(packDir), r.name).stem
		if len(r.pack) > 0 && !slices.ContainsFunc(superseded, func(p *pack) bool { return p.stem == stem }) {
			note(stem+packExt, db.path(packDir))
			note(stem+idxExt, db.path(packDir))
		}
		for _, ref := range r.refs {
			for path := db.refPath(ref.name); len(path) > len(db.path("refs")); path = filepath.Dir(path) {
				if path == db.refPath(ref.name) {
					note(path, filepath.Dir(path))
				} else if dir := filepath.Dir(path); !slices.Contains(dirs, dir) {
					dirs = append(dirs, dir)
				}
			}
		}
	}
	return files, dirs
}

// flushers is how many files are flushed at a time: the journal of the file system is
// written once for all who wait.
const flushers = 16

// flushPaths flushes files by their names. Those that are gone were moved or removed
// by somebody else, a git for instance, who answers for that.
func flushPaths(paths []string) error {
	return flushEach(paths, func(path string) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}

// flushDirs does the same for directories.
func flushDirs(dirs []string) error { return flushEach(dirs, atomicfile.SyncDir) }

func flushEach(paths []string, flush func(path string) error) error {
	errs := make([]error, len(paths))
	slots := make(chan struct{}, flushers)
	var wg sync.WaitGroup
	for i, path := range paths {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := flush(path); !isNoFile(err) {
				errs[i] = err
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
