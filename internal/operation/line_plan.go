package operation

import (
	"context"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// planTakeBack plans the difference between the state wanted by earlier reverts and the state
// wanted now.
func (u *LineUpdate) planTakeBack(
	ctx context.Context, id string, t *TakeBack, b *stepsBack, wanted *history.Checkpoint,
) (*plan.Plan, *journalLine, error) {
	to, err := history.StateOf(wanted)
	if err != nil {
		return nil, nil, err
	}
	base, err := u.base(ctx, t, b.start)
	if err != nil {
		return nil, nil, err
	}
	p, scope, err := u.planSteps(ctx, b, to, base, t.Earlier)
	if err != nil {
		return nil, nil, err
	}
	line := &journalLine{
		Ref: history.LineRef(id), Record: t.Record, Message: t.Message, Wanted: wanted.ID,
		Paths: slices.Concat(scope.Named(), p.Losses),
	}
	line.Settled = b.reportedOnly(p)
	return p, line, nil
}

// planSteps plans the difference between a state with the steps and the same without them, and
// returns the paths that it concerns.
func (u *LineUpdate) planSteps(
	ctx context.Context, b *stepsBack, to, base state.State, earlier []*history.LineEvent,
) (*plan.Plan, *state.PathScope, error) {
	within := b.concernedScope(earlier)
	step, err := u.repo.Changes(ctx, to, base, within)
	if err != nil {
		return nil, nil, err
	}
	way := &plan.ThreeWay{Base: base, Policy: b.policy, Made: b.made}
	for _, e := range earlier {
		for _, path := range e.Created {
			way.Made[path] = true
		}
	}
	scope, err := plan.ChangedBetween(u.repo.Store, to, base, within, step)
	if err != nil {
		return nil, nil, err
	}
	p, err := plan.Make(ctx, u.repo.Store, u.repo.live(u.disk), u.disk.DiskState(), to, plan.Options{
		Scope: scope, Way: way, Step: step, LeftOut: b.leftOut, Kept: b.kept, Conflicts: b.conflicts,
	})
	if err == nil {
		p.Mixed = append(p.Mixed, b.mixed(p)...)
	}
	return p, scope, err
}

// mixed lists the changes of a plan to what a step was taken out of by a merge.
func (b *stepsBack) mixed(p *plan.Plan) (paths []string) {
	for i := range p.Changes {
		if end, ok := b.want[p.Changes[i].Path]; ok && end.Entry != nil && b.merger.Merged[end.Entry.ID] != nil {
			paths = append(paths, p.Changes[i].Path)
		}
	}
	return paths
}

// reportedOnly lists the paths that the plan brings to the wanted state although stepsBack kept or
// refused them. They are reported, but they do not count as unmoved.
func (b *stepsBack) reportedOnly(p *plan.Plan) []string {
	stays := make(map[string]bool)
	for _, list := range [][]state.PathReason{p.Kept[:len(p.Kept)-len(b.kept)], p.Conflicts[:len(p.Conflicts)-len(b.conflicts)]} {
		for _, s := range list {
			stays[string(s.Path)] = true
		}
	}
	var out []string
	for _, list := range [][]state.PathReason{b.kept, b.conflicts} {
		for _, s := range list {
			if !stays[string(s.Path)] {
				out = append(out, string(s.Path))
			}
		}
	}
	return out
}

// concernedScope returns the scope of all paths that the steps or earlier reverts changed.
func (b *stepsBack) concernedScope(earlier []*history.LineEvent) *state.PathScope {
	var paths []string
	for path := range b.want {
		paths = append(paths, path)
	}
	for dir, ends := range b.dirs {
		if ends.listed {
			paths = append(paths, dir)
		}
	}
	for _, e := range earlier {
		paths = append(paths, e.Paths...)
	}
	return state.NewPathScope(paths)
}

// base returns the state that the earlier reverts brought about, without later changes. It is
// the wanted state of the newest revert. For a path that this could not move, the wanted
// state of the revert before it counts.
func (u *LineUpdate) base(ctx context.Context, t *TakeBack, start state.State) (state.State, error) {
	if len(t.Earlier) == 0 {
		return start, nil
	}
	states := make([]state.State, 0, len(t.Earlier)+1)
	for _, e := range t.Earlier {
		s, err := u.stateOf(ctx, history.Wanted(e))
		if err != nil {
			return state.State{}, err
		}
		states = append(states, s)
	}
	states = append(states, start)
	ends := make(map[string]history.PathEnd)
	unmoved := make([]*state.PathScope, len(t.Earlier))
	for i, e := range t.Earlier {
		unmoved[i] = state.NewPathScope(e.Unmoved)
	}
	dirs := u.repo.LookupDirs(states[0])
	for _, path := range t.Earlier[0].Unmoved {
		i := 1
		for i < len(t.Earlier) && unmoved[i].Covers(path) {
			i++
		}
		if dir, err := dirs.At(path); err != nil || dir.There {
			if err != nil {
				return state.State{}, err
			}
			continue
		}
		end, err := u.repo.EndOf(states[i], path)
		if err != nil {
			return state.State{}, err
		}
		ends[path] = end
	}
	batch := u.repo.DB.NewBatch()
	defer batch.Discard()
	s, err := WithEnds(u.repo.Store, batch, states[0], ends)
	if err != nil {
		return state.State{}, err
	}
	return s, batch.Commit()
}
