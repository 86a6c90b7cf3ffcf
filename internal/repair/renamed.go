package repair

import (
	"bytes"
	"errors"
	"path/filepath"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/identity"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
)

// Former is the store of a directory that was renamed, and its root before, "" where the store is sealed.
type Former struct{ Store, Root string }

// Renamed finds the store of a directory that has none at its present path. The directory itself is the proof:
// its inode and the time of its creation. Stores of roots that are still there do not count. Of several the one
// counts that was used last.
func Renamed(dataDir, root string) (f Former, ok bool) { return renamed(traces(dataDir), root) }

// Renames returns a function that tells whether Renamed finds a store for a directory. It reads the stores once.
func Renames(dataDir string) func(root string) bool {
	all := sync.OnceValue(func() []trace { return traces(dataDir) })
	return func(root string) bool {
		_, ok := renamed(all(), root)
		return ok
	}
}

func renamed(all []trace, root string) (f Former, ok bool) {
	self, known := identity.DirectoryAt(root)
	if !known {
		return f, false
	}
	note, err := self.Encode()
	if err != nil {
		return f, false
	}
	var stores []string
	for _, t := range all {
		if bytes.Equal(t.note, note) {
			stores = append(stores, t.store)
		}
	}
	f.Store, f.Root = odb.LastUsed(stores, func(store string) (string, bool) {
		at, err := odb.FormerRoot(store, root)
		return at, errors.Is(err, odb.ErrSealed) || err == nil && LeftFor(at, root)
	})
	return f, f.Store != ""
}

// trace is a store and its note of the directory that it captured last. A directory has one note, so the bytes tell
// whether it is that directory: there may be thousands of stores.
type trace struct {
	store string
	note  []byte
}

// traces lists the stores in a data directory that know their directory.
func traces(dataDir string) (list []trace) {
	stores, _ := odb.List(StoresIn(dataDir)) // what cannot be listed has no trace
	for _, store := range stores {
		if note, err := atomicfile.Read(odb.PrivateIn(store, odb.PrivateWhere)); err == nil {
			list = append(list, trace{store, note})
		}
	}
	return list
}

// LeftFor reports whether a former root is gone, or a symlink to the present one.
func LeftFor(former, present string) bool {
	if former == present {
		return false
	}
	if IsMissing(former) {
		return true
	}
	real, err := realpath.Of(former)
	return err == nil && real == present
}

// Namesake returns a root in a data directory that is gone and has the last name of another root, "" for none; where
// there are several, the one that was used last. The roots of sealed stores are unknown.
func Namesake(dataDir, root string) (gone string) {
	stores, _ := odb.List(StoresIn(dataDir)) // what cannot be listed has none
	_, gone = odb.LastUsed(stores, func(store string) (string, bool) {
		at, err := odb.RecordedRoot(store)
		return at, err == nil && filepath.Base(at) == filepath.Base(root) && IsMissing(at)
	})
	return gone
}
