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
// ErrOutside: all contents of a path are to go, and no record names it.
func (p *purger) purgeOutside(ctx context.Context, paths []string, done *PurgeResult) error {
	if len(paths) == 0 {
		return nil
	}
	r := p.repo
	err := r.Exclusive(ctx, func(l *history.Locked) error {
		batch := r.DB.NewBatch()
		defer batch.Discard()
		refs, found, contents, err := outside.Without(r.Store, batch, paths, p.only)
		if err != nil {
			return err
		}
		for _, path := range paths {
			if !found[path] && p.only == nil && !r.isUnfinished() {
				p.nowhere = true
				return fmt.Errorf("%w %s, and no step has saved it: %s", state.ErrOutside, r.Root, path)
			}
		}
		p.deniedAway = p.stillOutside(paths)
		if err := errors.Join(r.addPurged(l, p.deniedAway), r.setUnfinished(l, true)); err != nil {
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
			p.blobs[id] = true
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	return nil
}

// stillOutside lists the paths outside the root that are not saved again: all, or where only some contents go,
// those whose files have such contents now.
func (p *purger) stillOutside(paths []string) (still []string) {
	if p.only == nil {
		return paths
	}
	now := make([]outside.Entry, len(paths))
	for i, path := range paths {
		now[i].Path = state.Path(path)
	}
	for _, e := range (outside.Keeper{Store: p.repo.Store}).After(now) {
		if id, err := object.ParseID(e.ID); err == nil && p.only[id] {
			still = append(still, string(e.Path))
		}
	}
	return still
}
