package odb

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// Journal is the record of an operation under way. A torn or altered one has an Err and no Data.
type Journal struct {
	Name string
	Data []byte
	Err  error
}

// journalMagic begins a journal file. 64 hexadecimal digits, a line feed and the data follow. The
// digits are the SHA-256 of name, NUL and data, so that a journal under the name of another one
// is refused, too.
const journalMagic = "cairn journal 1 "

func journalSum(name string, data []byte) string {
	h := sha256.New()
	io.WriteString(h, name+"\x00")
	h.Write(data)
	return fmt.Sprintf("%x", h.Sum(nil))
}

func decodeJournal(name string, file []byte) ([]byte, error) {
	head, data, ok := bytes.Cut(file, []byte("\n"))
	if !ok || string(head) != journalMagic+journalSum(name, data) {
		return nil, pack.Corrupt("journal torn or altered")
	}
	return data, nil
}

// checkJournalName accepts names that are file names on every system.
func checkJournalName(name string) error {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	if name == "" || len(name) > 100 || name[0] == '.' || strings.Trim(name, allowed) != "" {
		return fmt.Errorf("journal name %q: want up to 100 letters, digits, '-', '_' and '.', not '.' first", name)
	}
	return nil
}

// WriteJournal writes or replaces a journal, completely or not at all, and flushes it. Before the journal
// gets its name, and while its contents are flushed, it calls first, unless that is nil. After an error of
// first there is no new journal.
func (db *DB) WriteJournal(name string, data []byte, first func() error) error {
	if err := checkJournalName(name); err != nil {
		return err
	}
	if err := db.makeDir(db.path(journalDir)); err != nil {
		return err
	}
	err := atomicfile.Write(db.path(journalDir, name), 0o600, false, func(w io.Writer) error {
		_, err := io.WriteString(w, journalMagic+journalSum(name, data)+"\n")
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			return err
		}
		flush := func() error { return db.flush(w.(*os.File)) }
		if first == nil {
			return flush()
		}
		return atOnce(first, flush)
	})
	if err != nil {
		return err
	}
	return db.syncDirs(db.path(journalDir))
}

// JournalPath returns the path of a journal.
func (db *DB) JournalPath(name string) string { return db.path(journalDir, name) }

// Journals returns the journals, sorted by name.
func (db *DB) Journals() ([]Journal, error) {
	names, err := readNames(db.path(journalDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list journals: %w", err)
	}
	slices.Sort(names)
	var journals []Journal
	for _, name := range names {
		if checkJournalName(name) != nil {
			continue // a temporary file, or a file of another program
		}
		if j := db.readJournal(name); !errors.Is(j.Err, fs.ErrNotExist) {
			journals = append(journals, j)
		}
	}
	return journals, nil
}

func (db *DB) readJournal(name string) Journal {
	path := db.path(journalDir, name)
	file, err := atomicfile.Read(path)
	if err != nil {
		return Journal{Name: name, Err: err}
	}
	data, err := decodeJournal(name, file)
	if err != nil {
		return Journal{Name: name, Err: fmt.Errorf("%s: %w", path, err)}
	}
	return Journal{Name: name, Data: data}
}

// RemoveJournal removes a journal. It does not come back after a loss of power. A missing journal
// is no error.
func (db *DB) RemoveJournal(name string) error {
	if err := checkJournalName(name); err != nil {
		return err
	}
	path := db.path(journalDir, name)
	if err := db.ClearWay(path); err != nil { // a directory cannot be removed
		return err
	}
	if err := os.Remove(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return db.syncDirs(filepath.Dir(path))
}

// JournalIDs returns every id that a journal names, torn or not: every text in it that looks like
// an id.
func (db *DB) JournalIDs() ([]object.ID, error) {
	names, err := readNames(db.path(journalDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list journals: %w", err)
	}
	var ids []object.ID
	for _, name := range names {
		data, err := atomicfile.Read(db.path(journalDir, name))
		if err != nil && !atomicfile.IsNoFile(err) && !errors.Is(err, atomicfile.ErrNotRegular) {
			return nil, err
		}
		ids = appendNamed(ids, data)
	}
	return ids, nil
}

// appendNamed appends the runs of exactly 40 hexadecimal digits.
func appendNamed(ids []object.ID, text []byte) []object.ID {
	isDigit := func(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }
	for i := 0; i < len(text); i++ {
		start := i
		for i < len(text) && isDigit(text[i]) {
			i++
		}
		if i-start == 2*idSize {
			if id, err := object.ParseID(string(text[start:i])); err == nil {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
