package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// ReadReplaced returns the ids that were replaced, for instance by a purge, each with the end of its chain of
// replacements. If the list cannot be read it is empty, and a replaced id is then not found.
func (r *Store) ReadReplaced() map[object.ID]object.ID {
	chains := r.replacements()
	all := make(map[object.ID]object.ID, len(chains))
	for old := range chains {
		for now := range chains.after(old) {
			all[old] = now
		}
	}
	return all
}

// replacements is the list as it is written: the next id of each replaced one.
type replacements map[object.ID]object.ID

func (r *Store) replacements() replacements {
	all := make(replacements)
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

// after yields the replacement of an id, the replacement of that, and so on.
func (c replacements) after(id object.ID) iter.Seq[object.ID] {
	return func(yield func(object.ID) bool) {
		for range len(c) { // a damaged list may lead in a circle
			now, ok := c[id]
			if !ok || !yield(now) {
				return
			}
			id = now
		}
	}
}

// leading returns what tells whether the replacement of an id is there, or the replacement of that, and so on. Each id
// is looked for once: after many purges most chains have a part in common.
func (c replacements) leading(there func(object.ID) bool) func(id object.ID) bool {
	known := make(map[object.ID]bool)
	return func(id object.ID) (leads bool) {
		var way []object.ID
		for now := range c.after(id) {
			var ok bool
			if leads, ok = known[now]; ok {
				break
			}
			way = append(way, now)
			if leads = there(now); leads {
				break
			}
		}
		for _, now := range way {
			known[now] = leads
		}
		return leads
	}
}

// presentReplaced lists the replacements of some ids: of each chain the last that is there. An id is left out if none
// is: a cleaning has dropped them, or the purge that made them was interrupted, and the old objects are still in their
// place.
func (r *Store) presentReplaced(of func(object.ID) bool) map[object.ID]object.ID {
	chains, there := r.replacements(), r.presence()
	all := make(map[object.ID]object.ID)
	for old := range chains {
		if !of(old) {
			continue
		}
		for now := range chains.after(old) {
			if there(now) {
				all[old] = now
			}
		}
	}
	return all
}

// replacementOf returns the replacement of an id that is there, zero for none.
func (r *Store) replacementOf(id object.ID) object.ID {
	return r.presentReplaced(func(old object.ID) bool { return old == id })[id]
}

// presence returns what tells whether the store has an object, or a thinned checkpoint. One that cannot be read counts.
func (r *Store) presence() func(object.ID) bool {
	table := sync.OnceValue(r.ThinnedTable)
	return func(id object.ID) bool {
		_, _, err := r.DB.Stat(id)
		return !errors.Is(err, odb.ErrNotFound) || table().Has(id)
	}
}

// RecordReplaced adds to the list. Chains stay in it: if a purge is killed after this, an id still leads to the last
// replacement that exists. An id without any is dropped.
func (r *Store) RecordReplaced(l *Locked, more map[object.ID]object.ID) error {
	r.Holds(l)
	all := r.replacements()
	maps.Copy(all, more)
	maps.DeleteFunc(all, func(old, now object.ID) bool { return old == now })
	leads := all.leading(r.presence())
	var lines []string
	for old, now := range all {
		if leads(old) {
			lines = append(lines, old.String()+" "+now.String()+"\n")
		}
	}
	slices.Sort(lines)
	return r.DB.WritePrivate(odb.PrivateReplaced, []byte(strings.Join(lines, "")))
}

// PurgeUnfinished reports whether a purge has rewritten the history and has contents to drop yet.
func (r *Store) PurgeUnfinished() (bool, error) {
	text, err := r.DB.ReadPrivate(odb.PrivatePurging)
	if errors.Is(err, odb.ErrNotFound) {
		return false, nil
	}
	return len(text) > 0, err
}

// PurgedPaths lists, from the root, the paths that are not captured any more because
// they were purged. The error says that the list cannot be read.
func (r *Store) PurgedPaths() ([]string, error) {
	err := r.RefreshDenied()
	return append([]string{}, r.Never.Load().purged...), err
}

// decodePurged decodes the list of purged paths.
func decodePurged(data []byte) (paths state.Paths, err error) {
	err = json.Unmarshal(data, &paths)
	return paths, err
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
			case c == '\n' || c == '\r': // no pattern holds an end of a line
				b.WriteString("[!\x01-" + string(rune(c-1)) + string(rune(c+1)) + "-\xff]")
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
