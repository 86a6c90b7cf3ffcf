package odb

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
	"github.com/seed-fb9cbc17/cairn/internal/odb/redo"
)

// redoFile is the redo log, see package redo.
var redoFile = filepath.Join(privateDir, "redo")

// newLog returns the redo log of a store.
func (db *DB) newLog(token func() (redo.Token, bool)) *redo.Log {
	return redo.New(logStore{db}, db.path(redoFile), db.path(packDir), token)
}

// logStore is the store as its redo log sees it.
type logStore struct{ db *DB }

func (s logStore) RefValue(name string) (object.ID, error) { return s.db.refValue(name) }
func (s logStore) RefPath(name string) string              { return s.db.refPath(name) }
func (s logStore) PacksChanged() error                     { return s.db.refresh(true) }

func (s logStore) ReplaceRef(name string, id object.ID) error {
	if !id.IsZero() {
		return s.db.writeRef(s.db.refPath(name), id.String()+"\n")
	}
	if _, err := s.db.removeRef(name); !errors.Is(err, ErrNotFound) {
		return err
	}
	return nil
}

// CheckRecord checks the names of refs and of the pack, and the lengths of the pack's files.
func (s logStore) CheckRecord(r *redo.Record) error {
	for _, ref := range r.Refs {
		if err := checkRefName(ref.Name); err != nil {
			return err
		}
	}
	if r.Name == "" && len(r.Pack)+len(r.Idx) == 0 {
		return nil
	}
	if digits, ok := strings.CutPrefix(r.Name, pack.Prefix); !ok || len(digits) != 2*sha1.Size || strings.Trim(digits, "0123456789abcdef") != "" {
		return pack.Corrupt("redo log names the pack %.80q", r.Name)
	}
	if len(r.Pack)+len(r.Idx) > 0 && (len(r.Pack) < pack.HeadSize+sha1.Size || len(r.Idx) < pack.IndexHeadSize+pack.IndexTailSize) {
		return pack.Corrupt("redo log holds half a pack")
	}
	return nil
}

// CheckPack compares the contents of a pack with its name, which follows from the checksum of the
// pack. The index repeats that checksum.
func (s logStore) CheckPack(r *redo.Record) error {
	sum := sha1.Sum(r.Pack[:len(r.Pack)-sha1.Size])
	if !bytes.Equal(sum[:], r.Pack[len(r.Pack)-sha1.Size:]) || pack.OwnName(sum) != r.Name ||
		!bytes.Equal(sum[:], r.Idx[len(r.Idx)-pack.IndexTailSize:][:sha1.Size]) {
		return pack.Corrupt("redo log holds a pack that is not %s", r.Name)
	}
	return nil
}

// lockLog locks the redo log. It returns nil where there is none.
func (db *DB) lockLog() (*redo.Writer, error) {
	w, err := db.log.Lock()
	return w, pack.Damage(err)
}

// refValue returns the value of a ref, zero if there is none.
func (db *DB) refValue(name string) (object.ID, error) {
	id, err := db.Ref(name)
	if errors.Is(err, ErrNotFound) {
		return object.ID{}, nil
	}
	return id, err
}

// recoverWait bounds the wait for the lock of the store when it is opened after a loss of power.
const recoverWait = time.Minute

// recover replays the redo log after a loss of power, before the store is read. A store that
// cannot be written to stays as it is.
func (db *DB) recover() error {
	if !db.log.Stale() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), recoverWait)
	defer cancel()
	unlock, err := db.Lock(ctx)
	if err == nil {
		var w *redo.Writer
		w, err = db.lockLog()
		w.Unlock()
		err = errors.Join(err, unlock())
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || err != nil && !db.log.Stale() {
		return nil
	}
	if err != nil {
		return fmt.Errorf("recover store %s after a loss of power: %w", db.dir, err)
	}
	return nil
}

// DropLog flushes the files that the redo log names and removes the log, with the copies of
// objects in it. Call it with the lock held.
func (db *DB) DropLog() error { return pack.Damage(db.log.Drop()) }

// usesLog reports whether this process appends to a redo log.
func (db *DB) usesLog() bool { return db.log.Kept() && !db.opt.NoSync }

// logForRefs locks the redo log for a change of refs. It returns nil if the change has to be
// flushed by itself. A process that keeps no log empties the log of others: the log must not name
// a ref that changes outside of it.
func (db *DB) logForRefs() (*redo.Writer, error) {
	w, err := db.lockLog()
	if w == nil || err != nil || db.usesLog() {
		return w, err
	}
	defer w.Unlock()
	if w.IsEmpty() {
		return nil, nil
	}
	return nil, w.Flush()
}

// loggedRefs returns the refs of a record that are about to be set.
func (db *DB) loggedRefs(writes []refWrite) []redo.Ref {
	var refs []redo.Ref
	for _, w := range writes {
		from, _ := db.refValue(w.name) // an unreadable ref counts as absent
		refs = append(refs, redo.Ref{Name: w.name, From: from, To: w.id})
	}
	return refs
}

// packNameSize is the length of the name of a pack.
const packNameSize = int64(len(pack.Prefix)) + 2*sha1.Size

// publishSmall publishes a pack that is in memory and fits into one record of the redo log, so
// that only the append is waited for. done is false where there is no log, or no room in a
// record; nothing has happened then.
func (db *DB) publishSmall(w *pack.Writer, refs []RefUpdate) (p *pack.Pack, done bool, err error) {
	if !w.InMemory() || len(refs) == 0 || w.Size() > redo.MaxRecord || !db.usesLog() {
		return nil, false, nil
	}
	if w.Size() < redo.MaxRecord/2 {
		db.log.Make(w.Allow)
	}
	writes, err := db.checkRefs(refs)
	if err != nil {
		return nil, false, err
	}
	log, err := db.logForRefs()
	if log == nil {
		return nil, false, err
	}
	defer log.Unlock()
	rec := redo.Record{Refs: db.loggedRefs(writes)}
	if rec.Size()+packNameSize+sha1.Size+w.Size() > redo.MaxRecord {
		return nil, false, nil
	}
	if rec.Name, rec.Pack, rec.Idx, err = w.EndInMemory(); err == nil {
		p, err = db.appendAndPlace(log, &rec, writes)
	}
	if err != nil {
		return nil, false, fmt.Errorf("write pack into %s: %w", db.dir, err)
	}
	return p, true, nil
}

// appendAndPlace writes the files of a record under temporary names, appends the record, and then
// gives the files their names.
func (db *DB) appendAndPlace(log *redo.Writer, rec *redo.Record, writes []refWrite) (*pack.Pack, error) {
	s := &pack.Sealed{Name: rec.Name}
	defer s.Discard()
	defer discardRefs(writes)
	if err := s.Lay(db.path(packDir), rec.Pack, rec.Idx); err != nil {
		return nil, err
	}
	if err := db.writeTempRefs(writes); err != nil {
		return nil, err
	}
	if err := log.Append(rec); err != nil {
		return nil, err
	}
	p, err := db.rename(s)
	if err == nil {
		err = db.placeRefs(writes)
	}
	if err != nil {
		return nil, log.Abort(err)
	}
	return p, nil
}

// publishLogged publishes a pack that is too large for a record. It flushes the pack first, and
// then its directory at the same time as a record of the refs.
func (db *DB) publishLogged(log *redo.Writer, s *pack.Sealed, writes []refWrite) (p *pack.Pack, err error) {
	rec := redo.Record{Name: s.Name, Refs: db.loggedRefs(writes)}
	if rec.Size() > redo.MaxRecord { // thousands of refs
		if err := log.Flush(); err != nil {
			return nil, err
		}
		return db.publishFlushed(s, writes)
	}
	if p, err = db.placeAndAppend(log, s, &rec); err != nil {
		return nil, fmt.Errorf("write pack into %s: %w", db.dir, err)
	}
	if err := db.placeRefs(writes); err != nil {
		return nil, log.Abort(err)
	}
	return p, nil
}

// placeAndAppend puts a pack into the store and appends the record of its refs.
func (db *DB) placeAndAppend(log *redo.Writer, s *pack.Sealed, rec *redo.Record) (*pack.Pack, error) {
	if err := db.flush(s.Pack, s.Idx); err != nil {
		return nil, err
	}
	p, err := db.rename(s)
	if err != nil {
		return nil, err
	}
	var appended error
	err = atOnce(
		func() error { return db.syncDirs(db.path(packDir)) },
		func() error { appended = log.Append(rec); return appended },
	)
	if err != nil && appended == nil {
		err = log.Abort(err)
	}
	return p, err
}

// setLogged sets refs by way of the redo log.
func (db *DB) setLogged(log *redo.Writer, writes []refWrite) error {
	rec := redo.Record{Refs: db.loggedRefs(writes)}
	if rec.Size() > redo.MaxRecord {
		if err := log.Flush(); err != nil {
			return err
		}
		return db.setFlushed(writes)
	}
	if err := log.Append(&rec); err != nil {
		return fmt.Errorf("set ref %s: %w", writes[0].name, err)
	}
	if err := db.placeRefs(writes); err != nil {
		return log.Abort(err)
	}
	return nil
}

// deleteLogged deletes a ref by way of the redo log.
func (db *DB) deleteLogged(log *redo.Writer, name string) error {
	from, err := db.refValue(name)
	if err == nil && from.IsZero() {
		return ErrNotFound
	}
	if err := log.Append(&redo.Record{Refs: []redo.Ref{{Name: name, From: from}}}); err != nil {
		return err
	}
	if _, err := db.removeRef(name); err != nil {
		return log.Abort(err)
	}
	return nil
}

// publishInstead publishes a pack that holds all objects of others, and empties the redo log. The
// other files that the log names are flushed at the same time.
func (db *DB) publishInstead(w *pack.Writer, others []*pack.Pack) (p *pack.Pack, err error) {
	log, err := db.lockLog()
	if err != nil {
		return nil, err
	}
	defer log.Unlock()
	if log.IsEmpty() {
		return db.publish(w)
	}
	defer w.Discard()
	s, err := w.Seal()
	if err != nil {
		return nil, fmt.Errorf("write pack into %s: %w", db.dir, err)
	}
	defer s.Discard()
	var superseded []string
	for _, other := range others {
		if other.Name() != s.Name {
			superseded = append(superseded, other.Name())
		}
	}
	write := func() error { return db.flush(s.Pack, s.Idx) }
	place := func() error {
		p, err = db.rename(s)
		return err
	}
	if err := log.FlushWithout(superseded, write, place); err != nil {
		return nil, fmt.Errorf("write pack into %s: %w", db.dir, err)
	}
	return p, nil
}

// endRecordsOf empties the redo log if the last record names one of some packs without holding it.
// The packs are about to be removed, and a last record without its pack counts as not carried out.
func (db *DB) endRecordsOf(packs []*pack.Pack) error {
	log, err := db.lockLog()
	if log == nil {
		return err
	}
	defer log.Unlock()
	records := log.Records()
	if len(records) == 0 {
		return nil
	}
	last := records[len(records)-1]
	if len(last.Pack) > 0 || !slices.ContainsFunc(packs, func(p *pack.Pack) bool { return p.Name() == last.Name }) {
		return nil
	}
	return log.Flush()
}
