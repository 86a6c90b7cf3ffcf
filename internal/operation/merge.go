package operation

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

const kindMerge = "merge"

// Merging is an operation that brings changes from elsewhere into the directory.
type Merging struct {
	Target  string       // checkpoint of this store that has the changes
	Scope   []string     // the paths that the merge was narrowed down to; none = all changes
	Without []state.Path // paths that the directory of the changes never had, because no checkpoint held them
	DryRun  bool
	Plan    string // as in RevertOptions

	// Incoming says what comes in. ours is the directory as it was just captured. Objects that the
	// states need and that the store lacks are added to the batch.
	Incoming func(ctx context.Context, batch *odb.Batch, ours state.State) (*Incoming, error)
}

// Incoming is a change that a merge brings in: Base became Theirs.
type Incoming struct {
	Base, Theirs state.State
	Within       *state.PathScope
	Pairs        [][2]string        // renames whose halves come or stay together
	Mixed        []string           // paths of Theirs that hold changes of the directory already
	Conflicts    []state.PathReason // found beforehand
	Reword       func(reason string) string
}

// Merge carries out a three-way merge. What Incoming describes is taken back the other way round: a
// path that equals Base becomes as in Theirs, and for any other path both changes are merged.
func (r *Operator) Merge(ctx context.Context, m Merging) (*Result, error) {
	req := opRequest{kind: kindMerge, target: m.Target, scope: m.Scope, dryRun: m.DryRun, planID: m.Plan}
	return r.operate(ctx, req, func(disk *capture.Snapshot) (*plan.Plan, error) {
		in, err := r.incoming(ctx, m, disk)
		if err != nil {
			return nil, err
		}
		changes, err := r.changesOf(ctx, in.Theirs, in.Base, in.Within)
		if err != nil {
			return nil, err
		}
		changes.left = plan.NotWithout(changes.left, m.Without)
		p, err := r.planTakeBack(ctx, disk, changes, takeBackOptions{policy: plan.Merge, pairs: in.Pairs, conflicts: in.Conflicts})
		if err != nil {
			return nil, err
		}
		in.finish(p)
		return p, nil
	})
}

func (r *Operator) incoming(ctx context.Context, m Merging, disk *capture.Snapshot) (*Incoming, error) {
	batch := r.NewBatch(capture.ForCapture)
	defer batch.Discard()
	in, err := m.Incoming(ctx, batch, disk.State())
	if err != nil {
		return nil, err
	}
	return in, state.AsNoSpace(batch.Commit())
}

// finish puts what the plan could not know into it: paths that were merged beforehand, and reasons
// in the words of a merge.
func (in *Incoming) finish(p *plan.Plan) {
	planned := make(map[string]bool, len(p.Changes))
	for i := range p.Changes {
		planned[p.Changes[i].Path] = true
	}
	for _, path := range in.Mixed {
		if planned[path] {
			p.Mixed = append(p.Mixed, path)
		}
	}
	for _, list := range [][]state.PathReason{p.Kept, p.Conflicts} {
		for i := range list {
			list[i].Reason = in.Reword(list[i].Reason)
		}
	}
}
