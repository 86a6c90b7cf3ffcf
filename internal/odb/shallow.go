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

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// shallowFile is git's list of commits whose parents are not there and not missed:
// what git reads, verifies, packs and pushes ends with them. A line that was cut
// keeps its ids by means of it.
const shallowFile = "shallow"

// Shallow returns the commits whose parents do not count, sorted. Collect and Verify
// go by it, as git does.
func (db *DB) Shallow() ([]object.ID, error) {
	data, err := os.ReadFile(db.path(shallowFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the ends of lines: %w", err)
	}
	var ids []object.ID
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		id, err := object.ParseID(strings.TrimSpace(lines.Text()))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", db.path(shallowFile), corrupt("line %.80q", lines.Text()))
		}
		ids = append(ids, id)
	}
	slices.SortFunc(ids, compareIDs)
	return slices.Compact(ids), nil
}

// SetShallow replaces the list. Call it with the lock held, and before what it hides
// is dropped.
func (db *DB) SetShallow(ids []object.ID) error {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, compareIDs)
	ids = slices.Compact(ids)
	if old, err := db.Shallow(); err == nil && slices.Equal(old, ids) {
		return nil
	}
	if len(ids) == 0 { // an empty file would make git call the store shallow
		if err := os.Remove(db.path(shallowFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("write the ends of lines: %w", err)
		}
		return nil
	}
	var text strings.Builder
	for _, id := range ids {
		text.WriteString(id.String() + "\n")
	}
	if err := db.replaceRef(db.path(shallowFile), text.String()); err != nil {
		return fmt.Errorf("write the ends of lines: %w", err)
	}
	return nil
}

func compareIDs(a, b object.ID) int { return bytes.Compare(a[:], b[:]) }
