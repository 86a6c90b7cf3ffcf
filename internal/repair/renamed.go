package repair

import (
	"errors"
	"slices"
	"sync"
	"time"

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
	for _, t := range all {
		if t.directory != self {
			continue
		}
		at, err := odb.FormerRoot(t.store, root)
		if errors.Is(err, odb.ErrSealed) || err == nil && LeftFor(at, root) {
			f, ok = Former{t.store, at}, true
		}
	}
	return f, ok
}

// trace is a store and the directory that it captured last.
type trace struct {
	store     string
	directory identity.Directory
	used      time.Time
}

// traces lists the stores in a data directory that know their directory, the one that was used last at the end.
func traces(dataDir string) (list []trace) {
	stores, _ := odb.List(StoresIn(dataDir)) // what cannot be listed has no trace
	for _, store := range stores {
		data, err := atomicfile.Read(odb.PrivateIn(store, odb.PrivateWhere))
		if err != nil {
			continue
		}
		d, err := identity.DecodeDirectory(data)
		if err != nil {
			continue
		}
		used, _ := odb.Used(store)
		list = append(list, trace{store, d, used})
	}
	slices.SortStableFunc(list, func(a, b trace) int { return a.used.Compare(b.used) })
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

// Gone lists the roots in a data directory that are gone, the one that was used last at the end. Those of sealed
// stores are unknown.
func Gone(dataDir string) (roots []string) {
	stores, _ := odb.List(StoresIn(dataDir))
	used := make(map[string]time.Time)
	for _, store := range stores {
		if root, err := odb.RecordedRoot(store); err == nil && IsMissing(root) {
			roots = append(roots, root)
			used[root], _ = odb.Used(store)
		}
	}
	slices.SortStableFunc(roots, func(a, b string) int { return used[a].Compare(used[b]) })
	return roots
}
