package purge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// addPurged adds paths to the list of purged paths.
func (r *Rewriter) addPurged(l *history.Locked, paths []string) error {
	all, err := r.PurgedPaths()
	if err != nil {
		return err
	}
	all = append(all, paths...)
	slices.Sort(all)
	return r.writePurged(l, slices.Compact(all))
}

func (r *Rewriter) writePurged(l *history.Locked, paths []string) error {
	r.Holds(l)
	data, err := json.Marshal(state.Paths(paths))
	if err != nil {
		return err
	}
	return r.DB.WritePrivate(odb.PrivatePurged, append(data, '\n'))
}

// Unpurge allows captures of purged paths again. Their old contents stay gone. A path that was not
// purged is ErrNotFound.
func (r *Rewriter) Unpurge(ctx context.Context, paths []string) error {
	return r.Locked(ctx, func(l *history.Locked) error { return r.unpurge(l, paths) })
}

func (r *Rewriter) unpurge(l *history.Locked, paths []string) error {
	all, err := r.PurgedPaths()
	if err != nil {
		return err
	}
	for _, path := range paths {
		rel, err := r.Rel(path)
		if _, away := r.split([]string{path}); len(away) > 0 {
			rel, err = away[0], nil
		}
		if err != nil {
			return err
		}
		i := slices.Index(all, rel)
		if i < 0 {
			return state.NotFound("%s was not purged", rel)
		}
		all = slices.Delete(all, i, i+1)
	}
	if err := r.writePurged(l, all); err != nil {
		return fmt.Errorf("unpurge: %w", err)
	}
	return nil
}
