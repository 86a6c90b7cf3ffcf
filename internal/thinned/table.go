package thinned

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// Ref leads to the list, see the package.
const Ref = "refs/cairn/thinned"

// fanDigits is the number of hex digits of an id that name a directory of the list.
const fanDigits = 2

// Table is the list at one time. A nil Table is empty. It may be used from several goroutines.
type Table struct {
	db   *odb.DB
	id   object.ID // the commit that Ref leads to
	tree object.ID
	kept []object.ID

	dirs map[string]object.ID // tree of each directory
	mu   sync.Mutex
	read map[string]map[object.ID]object.ID // blobs of the directories that were read, by commit
	runs map[object.ID]run                  // see Run
}

// run is a thinned commit with the thinned ones before it.
type run struct {
	oldest object.ID
	n      int
}

// Read reads the list. known, the result of an earlier call, is returned if it is up to date. It
// returns nil for a store without a list.
func Read(db *odb.DB, known *Table) (*Table, error) {
	id, err := db.Ref(Ref)
	if errors.Is(err, odb.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list of thinned checkpoints: %w", err)
	}
	if known != nil && known.db == db && known.id == id {
		return known, nil
	}
	t := &Table{
		db: db, id: id, dirs: make(map[string]object.ID),
		read: make(map[string]map[object.ID]object.ID), runs: make(map[object.ID]run),
	}
	if err := t.open(); err != nil {
		return nil, fmt.Errorf("list of thinned checkpoints %s: %w", id, err)
	}
	return t, nil
}

func (t *Table) open() error {
	kind, data, err := t.db.Read(t.id)
	if err == nil && kind != object.Commit {
		err = pack.Corrupt("it is a %s", kind)
	}
	if err != nil {
		return err
	}
	c, err := object.ParseCommit(data)
	if err != nil {
		return pack.Corrupt("%w", err)
	}
	t.tree, t.kept = c.Tree, c.Parents
	slices.SortFunc(t.kept, compareIDs)
	entries, err := t.readTree(c.Tree)
	for _, e := range entries {
		t.dirs[e.Name] = e.ID
	}
	return err
}

func (t *Table) readTree(id object.ID) ([]object.Entry, error) {
	kind, data, err := t.db.Read(id)
	if err == nil && kind != object.Tree {
		err = pack.Corrupt("%s is a %s", id, kind)
	}
	if err != nil {
		return nil, err
	}
	return object.ParseTree(data)
}

// ID returns the commit that Ref leads to, zero for no list.
func (t *Table) ID() object.ID {
	if t == nil {
		return object.ID{}
	}
	return t.id
}

// Tree returns the tree that holds the records, zero for no list.
func (t *Table) Tree() object.ID {
	if t == nil {
		return object.ID{}
	}
	return t.tree
}

// Kept returns the commits that only the list keeps alive.
func (t *Table) Kept() []object.ID {
	if t == nil {
		return nil
	}
	return t.kept
}

// Keeps reports whether the list keeps a commit alive.
func (t *Table) Keeps(id object.ID) bool {
	if t == nil {
		return false
	}
	_, found := slices.BinarySearchFunc(t.kept, id, compareIDs)
	return found
}

func compareIDs(a, b object.ID) int { return bytes.Compare(a[:], b[:]) }

// dir returns the blobs of a directory by commit.
func (t *Table) dir(name string) (map[object.ID]object.ID, error) {
	tree, ok := t.dirs[name]
	if !ok {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if blobs := t.read[name]; blobs != nil {
		return blobs, nil
	}
	entries, err := t.readTree(tree)
	if err != nil {
		return nil, fmt.Errorf("list of thinned checkpoints: %w", err)
	}
	blobs := make(map[object.ID]object.ID, len(entries))
	for _, e := range entries {
		if id, err := object.ParseID(name + e.Name); err == nil {
			blobs[id] = e.ID
		}
	}
	t.read[name] = blobs
	return blobs, nil
}

// Has reports whether a commit is thinned. A list that cannot be read has none.
func (t *Table) Has(id object.ID) bool {
	if t == nil {
		return false
	}
	blobs, err := t.dir(id.String()[:fanDigits])
	_, ok := blobs[id]
	return ok && err == nil
}

// Get returns the record of a commit. The error wraps odb.ErrNotFound for one that is not thinned.
func (t *Table) Get(id object.ID) (*Record, error) {
	if t == nil {
		return nil, odb.ErrNotFound
	}
	blobs, err := t.dir(id.String()[:fanDigits])
	if err != nil {
		return nil, err
	}
	blob, ok := blobs[id]
	if !ok {
		return nil, odb.ErrNotFound
	}
	kind, data, err := t.db.Read(blob)
	if err == nil && kind != object.Blob {
		err = pack.Corrupt("%s is a %s", blob, kind)
	}
	if errors.Is(err, odb.ErrNotFound) {
		err = pack.Corrupt("%s is missing", blob)
	}
	if err != nil {
		return nil, fmt.Errorf("record of thinned checkpoint %s: %w", id, err)
	}
	r, err := decode(id, data)
	if err == nil {
		r.blob = blob
	}
	return r, err
}

// Run goes back from a thinned commit over the thinned ones before it on its line. It returns the oldest
// one and the number of all, 0 for a commit that is not thinned or cannot be read. A caller that asks for
// each commit of a line reads each record once.
func (t *Table) Run(id object.ID) (oldest object.ID, n int) {
	var passed []object.ID
	for next := id; !next.IsZero(); {
		if known, ok := t.known(next); ok {
			oldest, n = known.oldest, known.n
			break
		}
		rec, err := t.Get(next)
		if errors.Is(err, odb.ErrNotFound) {
			break
		}
		if err != nil {
			return t.unread(passed)
		}
		passed, next = append(passed, next), rec.Parent()
	}
	for _, id := range slices.Backward(passed) {
		if n++; n == 1 {
			oldest = id
		}
		t.remember(id, run{oldest, n})
	}
	return oldest, n
}

// unread returns the result of Run for commits before which one cannot be read. It may be readable later.
func (t *Table) unread(passed []object.ID) (oldest object.ID, n int) {
	if n = len(passed); n > 0 {
		oldest = passed[n-1]
	}
	return oldest, n
}

func (t *Table) known(id object.ID) (run, bool) {
	if t == nil {
		return run{}, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r, ok := t.runs[id]
	return r, ok
}

func (t *Table) remember(id object.ID, r run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs[id] = r
}

// IDs lists the thinned commits whose ids begin with a text, sorted.
func (t *Table) IDs(prefix string) (ids []object.ID, err error) {
	if t == nil {
		return nil, nil
	}
	for name := range t.dirs {
		if !strings.HasPrefix(name, prefix) && !strings.HasPrefix(prefix, name) {
			continue
		}
		blobs, err := t.dir(name)
		if err != nil {
			return nil, err
		}
		for id := range blobs {
			if strings.HasPrefix(id.String(), prefix) {
				ids = append(ids, id)
			}
		}
	}
	slices.SortFunc(ids, compareIDs)
	return ids, nil
}

// Readable lists the thinned commits of the directories that can be read.
func (t *Table) Readable() (ids []object.ID) {
	if t == nil {
		return nil
	}
	for name := range t.dirs {
		blobs, err := t.dir(name)
		if err != nil {
			continue
		}
		for id := range blobs {
			ids = append(ids, id)
		}
	}
	return ids
}

// All returns the records of all thinned commits.
func (t *Table) All() (map[object.ID]*Record, error) {
	ids, err := t.IDs("")
	if err != nil {
		return nil, err
	}
	all := make(map[object.ID]*Record, len(ids))
	for _, id := range ids {
		if all[id], err = t.Get(id); err != nil {
			return nil, err
		}
	}
	return all, nil
}
