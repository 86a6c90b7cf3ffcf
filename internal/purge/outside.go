package purge

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/outside"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// split returns the paths in the root, and those outside it as the records of steps have them.
func (r *Rewriter) split(paths []string) (inside, away []string) {
	for _, path := range paths {
		place := ""
		if _, err := r.Rel(path); err != nil && filepath.IsAbs(path) {
			place = outside.Place(path)
		}
		if place == "" {
			inside = append(inside, path)
		} else {
			away = append(away, place)
		}
	}
	return inside, away
}

// purgeOutside removes the contents of paths outside the root from the records of steps and operations.
// ErrOutside: no record names one of them.
func (r *Rewriter) purgeOutside(ctx context.Context, paths []string, done *PurgeResult, blobs map[object.ID]bool) error {
	if len(paths) == 0 {
		return nil
	}
	err := r.Exclusive(ctx, func(l *history.Locked) error {
		batch := r.DB.NewBatch()
		defer batch.Discard()
		refs, found, contents, err := outside.Without(r.Store, batch, paths)
		if err != nil {
			return err
		}
		for _, path := range paths {
			if !found[path] && !r.isUnfinished() {
				return fmt.Errorf("%w %s, and no step has saved it: %s", state.ErrOutside, r.Root, path)
			}
		}
		if err := errors.Join(r.addPurged(l, paths), r.setUnfinished(l, true)); err != nil {
			return err
		}
		if len(refs) > 0 {
			if err := batch.Commit(refs...); err != nil {
				return err
			}
		}
		done.Paths = append(done.Paths, slices.Sorted(slices.Values(paths))...)
		for text := range contents {
			id, err := object.ParseID(text)
			if err != nil {
				return err
			}
			blobs[id] = true
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	return nil
}
