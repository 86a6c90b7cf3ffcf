package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// ReadReplaced returns the ids that were replaced, for instance by a purge, with their
// replacements. If the list cannot be read it is empty, and a replaced id is then not found.
func (r *Store) ReadReplaced() map[object.ID]object.ID {
	all := make(map[object.ID]object.ID)
	data, err := r.DB.ReadPrivate(odb.PrivateReplaced)
	if err != nil {
		return all
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		old, now, _ := strings.Cut(lines.Text(), " ")
		from, err := object.ParseID(old)
		to, err2 := object.ParseID(now)
		if err == nil && err2 == nil {
			all[from] = to
		}
	}
	return all
}

// presentReplaced lists the replacements of some ids that are there. The others are gone: a cleaning has dropped
// them, or the purge that made them was interrupted, and what they were to replace is still in its place.
func (r *Store) presentReplaced(of func(object.ID) bool) map[object.ID]object.ID {
	all := r.ReadReplaced()
	maps.DeleteFunc(all, func(old, _ object.ID) bool { return !of(old) })
	if len(all) == 0 {
		return nil
	}
	table := r.ThinnedTable()
	maps.DeleteFunc(all, func(_, now object.ID) bool {
		_, _, err := r.DB.Stat(now)
		return errors.Is(err, odb.ErrNotFound) && !table.Has(now)
	})
	return all
}

// RecordReplaced adds to the list. A replacement that was itself
// replaced is followed to the end. An id whose replacement no longer exists is dropped.
func (r *Store) RecordReplaced(l *Locked, more map[object.ID]object.ID) error {
	r.Holds(l)
	all := r.ReadReplaced()
	for old, now := range all {
		if further, ok := more[now]; ok {
			all[old] = further
		}
	}
	maps.Copy(all, more)
	table := r.ThinnedTable()
	maps.DeleteFunc(all, func(old, now object.ID) bool {
		_, _, err := r.DB.Stat(now)
		return old == now || errors.Is(err, odb.ErrNotFound) && !table.Has(now)
	})
	var lines []string
	for old, now := range all {
		lines = append(lines, old.String()+" "+now.String()+"\n")
	}
	slices.Sort(lines)
	return r.DB.WritePrivate(odb.PrivateReplaced, []byte(strings.Join(lines, "")))
}

// PurgedPaths lists, from the root, the paths that are not captured any more because
// they were purged.
func (r *Store) PurgedPaths() []string {
	r.RefreshDenied()
	return append([]string{}, r.Never.Load().purged...)
}

// decodePurged decodes the list of purged paths. A damaged list is logged and counts as empty.
func (r *Store) decodePurged(data []byte) []string {
	var paths state.Paths
	if len(data) > 0 {
		if err := json.Unmarshal(data, &paths); err != nil {
			r.Log.Warn("list of purged paths not read: they may be captured again", "error", err)
		}
	}
	return paths
}

// neverPatterns returns the purged paths of the root as patterns of Options.Never.
func neverPatterns(paths []string) []string {
	var patterns []string
	for _, path := range paths {
		if filepath.IsAbs(path) {
			continue
		}
		var b strings.Builder
		b.WriteByte('/')
		for i := range len(path) {
			switch c := path[i]; {
			case c == '\n' || c == '\r':
				b.WriteByte('?') // no pattern holds an end of a line
				continue
			case strings.IndexByte(`\*?[ `, c) >= 0:
				b.WriteByte('\\')
			}
			b.WriteByte(path[i])
		}
		patterns = append(patterns, b.String())
	}
	return patterns
}
