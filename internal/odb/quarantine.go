package odb

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// Quarantine is a store aside for the objects that git fetches, until they are checked. The host
// has none of them. It borrows the host's objects, so that git sends only new ones. Sweep removes
// the quarantine of a dead process.
type Quarantine struct {
	*DB
	host  *DB
	claim *os.File
}

// Quarantine makes an empty quarantine. It needs no lock. The caller ends it with Discard.
func (db *DB) Quarantine() (*Quarantine, error) { return db.quarantine(true) }

// QuarantineAlone makes a quarantine that borrows nothing, so that git sends every object: the
// host lacks some that its refs lead to.
func (db *DB) QuarantineAlone() (*Quarantine, error) { return db.quarantine(false) }

func (db *DB) quarantine(borrow bool) (*Quarantine, error) {
	claim, err := atomicfile.Create(db.path(privateDir), atomicfile.Prefix)
	if err != nil {
		return nil, err
	}
	q := &Quarantine{host: db, claim: claim}
	dir := claim.Name() + AsideSuffix
	if err = writeSkeleton(dir, db.root, false); err == nil && borrow {
		// From its objects to the host's.
		alternates := "../../../objects\n"
		var f *os.File
		if f, err = writeNew(filepath.Join(dir, "objects", "info", "alternates"), alternates); err == nil {
			err = f.Close()
		}
	}
	if err == nil {
		q.DB, err = Open(dir, db.root, db.opt)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make room for a fetch: %w", err), q.Discard())
	}
	return q, nil
}

// Kind returns the kind of an object of the quarantine or the host, 0 if neither has it.
func (q *Quarantine) Kind(id object.ID) object.Kind {
	kind, _, err := q.Stat(id)
	if err != nil {
		return 0
	}
	return kind
}

// Stat returns the kind and the size of an object of the quarantine or of the host. Git sends nothing that the host has.
func (q *Quarantine) Stat(id object.ID) (object.Kind, int64, error) {
	if q.hasPacked(id) {
		return q.DB.Stat(id)
	}
	return q.host.Stat(id)
}

// Read returns an object of the quarantine or of the host.
func (q *Quarantine) Read(id object.ID) (object.Kind, []byte, error) {
	if q.hasPacked(id) {
		return q.DB.Read(id)
	}
	return q.host.Read(id)
}

// Adopt moves the packs of the quarantine into the host, whose lock the caller holds. Loose
// objects are not moved: the caller tells git to keep packs.
func (q *Quarantine) Adopt() error {
	from, to := q.path(packDir), q.host.path(packDir)
	stems, err := pack.List(from)
	if err != nil {
		return err
	}
	if err := q.Close(); err != nil { // Windows does not rename open files
		return err
	}
	for _, stem := range stems {
		for _, ext := range []string{pack.Ext, pack.IndexExt} { // visible when the index is
			if err := os.Chmod(filepath.Join(from, stem+ext), 0o600); err != nil { // git lets others read
				return err
			}
			if err := os.Rename(filepath.Join(from, stem+ext), filepath.Join(to, stem+ext)); err != nil {
				return err
			}
		}
	}
	if err := q.host.refresh(true); err != nil {
		return err
	}
	return q.host.syncDirs(to)
}

// Discard removes the quarantine.
func (q *Quarantine) Discard() error {
	var err error
	if q.DB != nil {
		err = q.Close()
	}
	return errors.Join(err, os.RemoveAll(q.claim.Name()+AsideSuffix), q.claim.Close(), os.Remove(q.claim.Name()))
}

// idFile holds the identity of this store among the stores of one project.
var idFile = filepath.Join(privateDir, "id")

// Identity returns 16 random hexadecimal digits that only this store and its copies have. With
// draw, the first call draws them, which needs the lock. Without, ErrNotFound says that they are
// not drawn yet.
func (db *DB) Identity(draw bool) (string, error) {
	data, err := atomicfile.Read(db.path(idFile))
	text := strings.TrimSpace(string(data))
	if raw, herr := hex.DecodeString(text); err == nil && herr == nil && len(raw) == 8 && text == strings.ToLower(text) {
		return text, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if !draw {
		return "", fmt.Errorf("%s: %w", db.path(idFile), ErrNotFound)
	}
	var raw [8]byte
	rand.Read(raw[:]) // never fails, see crypto/rand
	text = hex.EncodeToString(raw[:])
	return text, writeFile(db.path(idFile), []byte(text+"\n"), !db.opt.NoSync)
}
