package outside

import (
	"path/filepath"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

const (
	// maxTotal is how many bytes one call saves.
	maxTotal = 16 << 20
	// maxPaths is how many paths one call looks at.
	maxPaths = 1000
	// maxReplaced is the size of a file that a way back replaces, and saves for that.
	maxReplaced = 32 << 20
)

// Keeper saves paths outside the root in a store.
type Keeper struct{ Store *history.Store }

// most is the size of a file that is saved before a tool writes, in bytes.
func (k Keeper) most() int64 {
	switch most := k.Store.Opt.MaxOutsideSize; {
	case most == 0:
		return settings.DefaultMaxOutsideSize
	case most < 0:
		return maxTotal
	default:
		return most
	}
}

// Off reports whether nothing is saved.
func (k Keeper) Off() bool { return k.Store.Opt.NoOutside }

// Save adds the present contents of paths to a batch and returns how the paths are. It leaves out
// directories, the store, what the system keeps no file for, and paths that known lists.
func (k Keeper) Save(batch *odb.Batch, paths []string, known map[string]bool) ([]Entry, error) {
	if k.Off() {
		return nil, nil
	}
	purged, err := k.Store.PurgedPaths()
	if err != nil {
		return nil, err
	}
	var list []Entry
	total := int64(0)
	for _, path := range paths {
		place := Place(path)
		if place == "" || known[place] || realpath.Within(place, resolved(k.Store.Opt.DataDir)) || len(list) >= maxPaths {
			continue
		}
		known[place] = true
		s := sight{Entry: Entry{Path: state.Path(place), Left: k.denied(place, purged)}}
		if s.Left == "" {
			s = readSight(place, k.most())
		}
		switch {
		case s.Left == leftDir:
			continue
		case s.Left != "" || s.Mode == 0:
		case s.Mode != object.Symlink && holdsKey(s.content):
			s = sight{Entry: Entry{Path: s.Path, Left: leftKey}}
		case total+int64(len(s.content)) > maxTotal:
			s = sight{Entry: Entry{Path: s.Path, Left: leftTotal}}
		default:
			total += int64(len(s.content))
			if _, err := batch.Add(object.Blob, s.content); err != nil {
				return nil, err
			}
		}
		list = append(list, s.Entry)
	}
	return list, nil
}

// denied is the rule that keeps a path out of the store, "" for none.
func (k Keeper) denied(path string, purged []string) string {
	_, rel := split(path)
	switch {
	case Secret(path):
		return leftSecret
	case k.Store.Denied(rel):
		return leftNever
	case slices.ContainsFunc(purged, func(at string) bool { return filepath.IsAbs(at) && realpath.Within(path, at) }):
		return leftPurged
	}
	return ""
}

// After returns how paths are that were saved before.
func (k Keeper) After(before []Entry) []Entry {
	list := make([]Entry, 0, len(before))
	for i := range before {
		e := Entry{Path: before[i].Path, Left: before[i].Left}
		if e.Left == "" {
			e = readSight(string(e.Path), maxReplaced).Entry
		}
		list = append(list, e)
	}
	return list
}

// OutsideChange is what happened to a path between two times.
type OutsideChange struct {
	Path   state.Path `json:"path"`
	Change string     `json:"status" enum:"added,modified,deleted,unknown"`
	Left   string     `json:"notSaved,omitempty" doc:"Why the path was not saved. It cannot come back then."`
}

// Changes says of each path of a way what happened to it; Change is "" for one that is as before. Of a path
// that was not saved it is not known. Without an end, the present state counts.
func (w *Way) Changes() []OutsideChange {
	var list []OutsideChange
	for _, path := range w.paths() {
		before := w.before[path]
		after, ended := w.after[path]
		if !ended {
			after = readSight(path, maxReplaced).Entry
		}
		c := OutsideChange{Path: before.Path, Left: before.Left, Change: "modified"}
		switch {
		case before.Left != "":
			c.Change = "unknown"
		case before.same(&after):
			c.Change = ""
		case before.Mode == 0 && after.Left == "":
			c.Change = "added"
		case after.Mode == 0 && after.Left == "":
			c.Change = "deleted"
		}
		list = append(list, c)
	}
	return list
}
