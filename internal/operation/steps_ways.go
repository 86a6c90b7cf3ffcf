package operation

import (
	"context"
	"io"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// StepWays lists what some steps changed: of each path all changes, the oldest first, and the paths
// in order. Two steps with no other change between them count as one, so a gap between two changes
// of a path is the work of another writer. left lists paths that belong to other sessions or are
// shared with them. Directories have no ways.
func (r *Operator) StepWays(ctx context.Context, steps []UndoneStep) (ways [][]history.Change, left []state.PathReason, err error) {
	err = r.withStates(ctx, steps, func(u *LineUpdate) error {
		b := u.newStepsBack(state.State{}, plan.Merge)
		if err := b.collectAll(ctx, steps); err != nil {
			return err
		}
		for _, path := range slices.Sorted(maps.Keys(b.ways)) {
			if way := joinedWay(path, b.ways[path]); len(way) > 0 {
				ways = append(ways, way)
			}
		}
		left = append(b.kept, b.conflicts...)
		return nil
	})
	return ways, left, err
}

// joinedWay turns the ends of steps, newest first, into changes.
func joinedWay(path string, ends []stepEnds) []history.Change {
	var way []history.Change
	for at := len(ends) - 1; at >= 0; at-- {
		from, to := ends[at].from, ends[at].to
		for at > 0 && ends[at-1].from.Same(to) {
			at--
			to = ends[at].to
		}
		if !from.Same(to) {
			way = append(way, history.ChangeBetween(path, from, to))
		}
	}
	return way
}

// OpenBlob opens the contents of a captured file, or the target of a symlink, by its id.
func (r *Operator) OpenBlob(id string) (int64, io.ReadCloser, error) {
	parsed, err := object.ParseID(id)
	if err != nil {
		return 0, nil, err
	}
	return history.Source{DB: r.DB}.Open(parsed)
}
