package odb

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// Ref is a name for an object. A ref that cannot be read has an Err instead of an
// ID; the others are not affected by it.
type Ref struct {
	Name string
	ID   object.ID
	Err  error
}

// maxSymbolic is how many refs that refer to refs are followed.
const maxSymbolic = 5

// Ref returns the object that a ref points to. A loose ref hides a packed one. The name HEAD is
// accepted, too. An absent ref is ErrNotFound, an invalid one, as after a loss of power,
// ErrCorrupt.
func (db *DB) Ref(name string) (object.ID, error) {
	if err := db.errClosed(); err != nil {
		return object.ID{}, err
	}
	target := name
	for range maxSymbolic {
		if target != "HEAD" {
			if err := checkRefName(target); err != nil {
				return object.ID{}, err
			}
		}
		id, next, err := db.readRef(target)
		if err != nil {
			return object.ID{}, fmt.Errorf("ref %s: %w", name, err)
		}
		if next == "" {
			return id, nil
		}
		target = next
	}
	return object.ID{}, fmt.Errorf("ref %s: %w", name, pack.Corrupt("too many refs that refer to refs"))
}

// readRef returns the value of a ref: an id or the name of another ref.
func (db *DB) readRef(name string) (id object.ID, target string, err error) {
	for range 2 {
		data, err := atomicfile.Read(db.refPath(name))
		if err == nil {
			return parseRef(data)
		}
		if !atomicfile.IsNoFile(err) {
			return id, "", pack.Damage(err)
		}
		packed, err := db.packedRefs()
		if err != nil {
			return id, "", err
		}
		if r, ok := packed.find(name); ok {
			return r.ID, "", r.Err
		}
		// Again, in case git has just moved it from one place to the other.
	}
	return id, "", cmp.Or(db.errAbsent(), ErrNotFound)
}

func (db *DB) refPath(name string) string { return db.path(filepath.FromSlash(name)) }

// parseRef decodes a ref file.
func parseRef(data []byte) (id object.ID, target string, err error) {
	text := string(bytes.TrimRight(data, " \t\r\n"))
	if name, ok := strings.CutPrefix(text, "ref:"); ok {
		name = strings.TrimLeft(name, " \t")
		if checkRefName(name) != nil {
			return id, "", pack.Corrupt("ref to %.80q", name)
		}
		return id, name, nil
	}
	id, err = object.ParseID(text)
	if err != nil || id.IsZero() {
		return object.ID{}, "", pack.Corrupt("ref holds %.80q", text)
	}
	return id, "", nil
}

// Refs returns the refs whose names begin with prefix, sorted by name. Invalid lines of
// packed-refs are returned with any prefix.
func (db *DB) Refs(prefix string) ([]Ref, error) {
	return db.RefsOf(prefix, func(string) bool { return true })
}

// RefsOf is Refs for some names. The others are not read: each loose ref is a file.
func (db *DB) RefsOf(prefix string, want func(name string) bool) ([]Ref, error) {
	if err := db.errClosed(); err != nil {
		return nil, err
	}
	byName := make(map[string]Ref)
	// Loose first: git packs a ref before it removes the loose one.
	if err := db.looseRefs(prefix, want, byName); err != nil {
		return nil, fmt.Errorf("list refs: %w", err)
	}
	packed, err := db.packedRefs()
	if err != nil {
		return nil, fmt.Errorf("list refs: %w", err)
	}
	for _, r := range packed {
		if _, loose := byName[r.Name]; !loose && (strings.HasPrefix(r.Name, prefix) && want(r.Name) || r.IsLine()) {
			byName[r.Name] = r
		}
	}
	if err := db.errAbsent(); err != nil {
		return nil, err
	}
	refs := make([]Ref, 0, len(byName))
	for _, r := range byName {
		refs = append(refs, r)
	}
	slices.SortFunc(refs, func(a, b Ref) int { return strings.Compare(a.Name, b.Name) })
	return refs, nil
}

func (db *DB) looseRefs(prefix string, want func(name string) bool, found map[string]Ref) error {
	if strings.Contains(prefix, "..") {
		return nil // in no name, and not to be followed out of the store
	}
	top := "refs"
	if strings.HasPrefix(prefix, "refs/") {
		top = path.Clean(prefix[:strings.LastIndexByte(prefix, '/')])
	}
	return filepath.WalkDir(db.refPath(top), func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			if atomicfile.IsNoFile(err) {
				return nil // removed meanwhile
			}
			return err
		}
		rel, err := filepath.Rel(db.dir, file)
		name := filepath.ToSlash(rel)
		if err != nil || e.IsDir() || !strings.HasPrefix(name, prefix) || checkRefName(name) != nil || !want(name) {
			return err // other files are locks and temporary files
		}
		id, err := db.Ref(name)
		if !errors.Is(err, ErrNotFound) {
			found[name] = Ref{name, id, err}
		}
		return nil
	})
}

// HasHadRefs reports whether a ref was ever set: a ref leaves its directory behind, and the stat
// cache is saved after the first one.
func (db *DB) HasHadRefs() bool {
	if !fileMissing(db.path("packed-refs")) || !fileMissing(db.PrivatePath("index")) {
		return true
	}
	for _, dir := range []string{"cairn", "heads", "tags"} {
		if names, err := readNames(db.path("refs", dir)); err != nil || len(names) > 0 {
			return true
		}
	}
	return false
}
