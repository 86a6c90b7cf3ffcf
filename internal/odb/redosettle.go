package odb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
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
	if r.name != "" && fileMissing(pack.New(db.path(packDir), r.name).Stem+pack.IndexExt) {
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
	f, err := atomicfile.Open(db.path(redoFile))
	if err != nil {
		return false
	}
	defer f.Close()
	h := &redoHold{db: db, file: f, size: redoLarge}
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
// it. If the last one's pack should be on the disk and is not, its publish never returned.
// Such a pack of another one was folded since.
func (h *redoHold) recover(records []redoRecord) error {
	if i := slices.IndexFunc(records, func(r redoRecord) bool { return r.holds() != nil }); i >= 0 {
		records = records[:i] // nobody has promised that
	}
	for i := range records {
		ok, err := h.db.redoPack(&records[i])
		if err != nil {
			return err
		}
		if !ok && i == len(records)-1 {
			records = records[:i]
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
	stem := pack.New(db.path(packDir), r.name).Stem
	if len(r.pack) == 0 {
		return !fileMissing(stem+pack.Ext) && !fileMissing(stem+pack.IndexExt), nil
	}
	for _, file := range []struct {
		path string
		want []byte
	}{{stem + pack.Ext, r.pack}, {stem + pack.IndexExt, r.idx}} {
		got, err := atomicfile.Read(file.path)
		if err == nil && bytes.Equal(got, file.want) {
			continue
		}
		if err := writeFile(file.path, file.want, false); err != nil {
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
	had := make(map[RefUpdate]bool)
	for _, r := range records {
		for _, ref := range r.refs {
			last[ref.name] = ref.to
			had[RefUpdate{ref.name, ref.from}], had[RefUpdate{ref.name, ref.to}] = true, true
		}
	}
	for name, to := range last {
		now, err := db.refNow(name)
		if err == nil && (now == to || !now.IsZero() && !had[RefUpdate{name, now}]) {
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

// settle flushes everything that the log vouches for and empties it.
func (h *redoHold) settle() error { return h.settleAll(h.scan()) }

func (h *redoHold) settleAll(records []redoRecord) error {
	if err := h.db.flushPromised(records); err != nil {
		return err
	}
	return h.reset()
}

func (db *DB) flushPromised(records []redoRecord) error {
	files, dirs := db.vouchedFor(records, nil)
	if err := flushPaths(files); err != nil {
		return err
	}
	return flushDirs(dirs)
}

// vouchedFor returns the files that records are about, and the directories that they,
// and the directories of refs, are named in. Packs whose objects are in others, which
// are on the disk, are left out.
func (db *DB) vouchedFor(records []redoRecord, superseded []*pack.Pack) (files, dirs []string) {
	seen := make(map[string]bool)
	note := func(list *[]string, path string) {
		if !seen[path] {
			seen[path] = true
			*list = append(*list, path)
		}
	}
	for _, r := range records {
		stem := pack.New(db.path(packDir), r.name).Stem
		if len(r.pack) > 0 && !slices.ContainsFunc(superseded, func(p *pack.Pack) bool { return p.Stem == stem }) {
			note(&files, stem+pack.Ext)
			note(&files, stem+pack.IndexExt)
			note(&dirs, db.path(packDir))
		}
		for _, ref := range r.refs {
			path := db.refPath(ref.name)
			note(&files, path)
			for path != db.path("refs") {
				path = filepath.Dir(path)
				note(&dirs, path)
			}
		}
	}
	return files, dirs
}

// flushPaths flushes files by their names. It passes over a file that another process, a
// git for instance, has moved or removed, and over what is no regular file.
func flushPaths(paths []string) error {
	return flushEach(paths, atomicfile.SyncFile, func(err error) bool { return atomicfile.IsNoFile(err) || errors.Is(err, atomicfile.ErrNotRegular) })
}

// flushDirs flushes directories. It passes over a directory that another process has removed
// or replaced by something else: no name in it is left to be flushed.
func flushDirs(dirs []string) error {
	return flushEach(dirs, atomicfile.SyncDir, func(err error) bool {
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	})
}

func flushEach(paths []string, flush func(path string) error, passed func(error) bool) error {
	return inParallel(paths, func(path string) error {
		if err := flush(path); !passed(err) {
			return err
		}
		return nil
	})
}
