package odb

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// shallowFile is git's list of commits whose parents are not there and not needed. Git reads,
// verifies and packs up to them. A line that is cut there keeps its ids.
const shallowFile = "shallow"

// shallowList is the list as it was read from a file.
type shallowList struct {
	file os.FileInfo
	ids  []object.ID // sorted
}

// Shallow returns the commits whose parents do not count, sorted. Collections and verifications
// go by it, as git does. A list that cannot be read is ErrCorrupt; SetShallow replaces it.
func (db *DB) Shallow() ([]object.ID, error) {
	list, err := db.readShallow()
	if err != nil || list == nil {
		return nil, err
	}
	return slices.Clone(list.ids), nil
}

// EndsLine reports whether the parents of a commit do not count. Each call stats the file. If the
// list cannot be read, all parents count.
func (db *DB) EndsLine(id object.ID) bool { return db.Ends().Has(id) }

// Ends are the commits of Shallow at one time, sorted.
type Ends []object.ID

// Ends reads the list once, for a caller that asks about many commits. It is empty if the
// list cannot be read.
func (db *DB) Ends() Ends {
	list, err := db.readShallow()
	if err != nil || list == nil {
		return nil
	}
	return list.ids
}

// Has reports whether the parents of a commit do not count.
func (e Ends) Has(id object.ID) bool {
	_, found := slices.BinarySearchFunc(e, id, compareIDs)
	return found
}

// readShallow reads the list if it has changed. It returns nil if there is none.
func (db *DB) readShallow() (*shallowList, error) {
	path := db.path(shallowFile)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the ends of lines: %w", err)
	}
	// The file is only ever replaced, so its identity tells a new one.
	if known := db.shallow.Load(); known != nil && os.SameFile(known.file, info) &&
		known.file.Size() == info.Size() && known.file.ModTime().Equal(info.ModTime()) {
		return known, nil
	}
	data, err := atomicfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("read the ends of lines: %w", err)
	}
	list := &shallowList{file: info}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		id, err := object.ParseID(strings.TrimSpace(lines.Text()))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, pack.Corrupt("line %.80q", lines.Text()))
		}
		list.ids = append(list.ids, id)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, pack.Corrupt("%w", err))
	}
	slices.SortFunc(list.ids, compareIDs)
	db.shallow.Store(list)
	return list, nil
}

// SetShallow replaces the list. Call it with the lock held, before the objects that it hides are
// dropped.
func (db *DB) SetShallow(ids []object.ID) error {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, compareIDs)
	ids = slices.Compact(ids)
	if old, err := db.Shallow(); err == nil && slices.Equal(old, ids) {
		return nil
	}
	if err := db.writeShallow(ids); err != nil {
		return fmt.Errorf("write the ends of lines: %w", err)
	}
	return nil
}

func (db *DB) writeShallow(ids []object.ID) error {
	path := db.path(shallowFile)
	if err := db.ClearWay(path); err != nil {
		return err
	}
	if len(ids) == 0 { // an empty file would still make git call the store shallow
		return atomicfile.RemoveIfThere(path)
	}
	var text strings.Builder
	for _, id := range ids {
		text.WriteString(id.String() + "\n")
	}
	return db.replaceRef(path, text.String())
}

func compareIDs(a, b object.ID) int { return bytes.Compare(a[:], b[:]) }
