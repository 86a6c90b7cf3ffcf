package operation

import (
	"context"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// held reports whether a revert changes nothing because the work that is to go, or to come back, is in conflict or
// kept. What no policy could change holds nothing: a turn of such work alone would never get out of the way.
func (u *LineUpdate) held(ctx context.Context, id string, t *TakeBack, res *Result) (bool, error) {
	if len(t.New)+len(t.Back) == 0 || u.joint != nil || res.moves() {
		return false, nil
	}
	if res.Git != nil && len(res.Git.Conflicts) > 0 {
		return true, nil
	}
	if t.OnConflict == plan.Overwrite {
		return false, nil
	}
	stays, err := u.ofMoved(ctx, t, slices.Concat(res.Kept, res.Conflicts))
	if err != nil || !stays && res.Outside.Staying() == 0 {
		return false, err
	}
	insisting := *t
	insisting.OnConflict, insisting.DryRun, insisting.Plan = plan.Overwrite, true, ""
	would, err := u.TakeBack(ctx, id, insisting)
	return err == nil && would.Result.moves(), err
}

// Moves reports whether an operation changes anything in one of its roots, or its plan would.
func (r *Result) Moves() bool {
	return r.moves() || slices.ContainsFunc(r.Elsewhere, func(o RootResult) bool { return o.Result().moves() })
}

func (r *Result) moves() bool {
	return r.Operation != "" || len(r.Restored)+len(r.Deleted)+len(r.Plan)+r.Outside.Changes() > 0 || r.Git != nil && len(r.Git.Changes) > 0
}

// ofMoved reports whether one of some paths is of the work that is to go or to come back. Paths that an earlier
// revert could not move are listed with each further one.
func (u *LineUpdate) ofMoved(ctx context.Context, t *TakeBack, stays []state.PathReason) (bool, error) {
	if len(stays) == 0 || len(t.Earlier) == 0 {
		return len(stays) > 0, nil
	}
	b := u.newStepsBack(state.State{}, t.OnConflict)
	if err := b.collectAll(ctx, slices.Concat(t.New, t.Back)); err != nil {
		return false, err
	}
	scope := state.NewPathScope(slices.AppendSeq(slices.Collect(maps.Keys(b.ways)), maps.Keys(b.dirs)))
	return slices.ContainsFunc(stays, func(p state.PathReason) bool { return scope.Covers(string(p.Path)) }), nil
}
