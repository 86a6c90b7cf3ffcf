package purge

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/reach"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Holder is another store of the project that holds purged contents.
type Holder struct {
	Root    state.Path `json:"root"` // the directory of the store
	Store   state.Path `json:"store"`
	Missing bool       `json:"missing,omitempty"` // the directory is gone

	// Unneeded: no checkpoint of the store leads to the contents. A thorough cleaning drops them, a purge
	// finds nothing.
	Unneeded bool `json:"unneeded,omitempty"`
}

// holders lists the stores beside this one that hold contents: of forks, of the directory that this one is a
// fork of and its other forks, and of other work trees of the same git repository. Empty contents do not count.
func (r *Rewriter) holders(ctx context.Context, contents map[object.ID]bool) ([]Holder, error) {
	stores, err := odb.List(filepath.Dir(state.StorePath(r.Opt.DataDir, r.Root)))
	if err != nil {
		return nil, err
	}
	all := make([]*kin, 0, len(stores))
	for _, dir := range stores {
		if dir != r.DB.Dir() {
			if k := r.kinOf(dir); k != nil {
				defer k.db.Close()
				all = append(all, k)
			}
		}
	}
	r.relate(all)
	var list []Holder
	for _, k := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		held, err := k.holds(contents)
		if err != nil {
			r.Log.Warn("a store is not searched for purged contents", "store", k.db.Dir(), "error", err)
			continue
		}
		if len(held) > 0 {
			info, err := os.Stat(k.db.Root())
			h := Holder{Root: state.Path(k.db.Root()), Store: state.Path(k.db.Dir()), Missing: err != nil || !info.IsDir()}
			if h.Unneeded, err = k.unneeded(ctx, held); err != nil {
				return nil, err
			}
			list = append(list, h)
		}
	}
	slices.SortFunc(list, func(a, b Holder) int { return strings.Compare(string(a.Root), string(b.Root)) })
	return list, nil
}

// kin is a store that may be one of the project.
type kin struct {
	db      *odb.DB
	keys    []string // what connects it: its id, that of the store it is a fork of, the git repository
	related bool
}

// kinOf opens a store, nil for one that cannot be read.
func (r *Rewriter) kinOf(dir string) *kin {
	db, err := odb.Open(dir, "", odb.Options{})
	if err != nil {
		r.Log.Warn("a store is not searched for purged contents", "store", dir, "error", err)
		return nil
	}
	repo, _ := git.Find(db.Root()) // a root that is gone has none
	return &kin{db: db, keys: keysOf(db, repo)}
}

// keysOf lists what connects a store with others of the project.
func keysOf(db *odb.DB, repo *git.Repo) (keys []string) {
	if id, err := db.Identity(false); err == nil { // a store without one has no forks
		keys = append(keys, id)
	}
	if f, err := history.ReadForkRecord(db.Dir()); err == nil && f != nil {
		keys = append(keys, f.Store)
	}
	if repo != nil {
		keys = append(keys, repo.CommonDir)
	}
	return keys
}

// relate marks the stores that forks or git connect with this one, also by way of other stores.
func (r *Rewriter) relate(all []*kin) {
	known := make(map[string]bool)
	learn := func(keys []string) {
		for _, key := range keys {
			known[key] = true
		}
	}
	learn(keysOf(r.DB, r.Repository()))
	for again := true; again; {
		again = false
		for _, k := range all {
			if !k.related && slices.ContainsFunc(k.keys, func(key string) bool { return known[key] }) {
				k.related, again = true, true
				learn(k.keys)
			}
		}
	}
}

// holds lists those of some contents that a related store has.
func (k *kin) holds(contents map[object.ID]bool) (held []object.ID, err error) {
	if !k.related {
		return nil, nil
	}
	for id := range contents {
		_, size, err := k.db.Stat(id)
		switch {
		case errors.Is(err, odb.ErrNotFound):
		case err != nil:
			return nil, err
		case size > 0:
			held = append(held, id)
		}
	}
	return held, nil
}

// unneeded reports whether no root of the store leads to any of these objects. It reports false where that
// cannot be told.
func (k *kin) unneeded(ctx context.Context, held []object.ID) (bool, error) {
	census, _, _, err := reach.Objects(k.db)
	if err != nil {
		return false, nil
	}
	m := reach.NewMarker(k.db, census)
	m.CutAt(k.db, nil)
	if _, err := m.MarkRoots(k.db, nil); err != nil {
		return false, nil
	}
	if err := m.Run(ctx, nil); err != nil || m.Blocked() != nil {
		return false, ctx.Err()
	}
	return !slices.ContainsFunc(held, func(id object.ID) bool {
		slot, ok := m.Slot(id)
		return !ok || m.Live(slot)
	}), nil
}
