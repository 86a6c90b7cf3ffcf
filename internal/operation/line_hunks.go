package operation

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// OwnChanges is Operator.OwnChanges for steps whose hunks RevertHunks takes back.
func (u *LineUpdate) OwnChanges(ctx context.Context, steps []UndoneStep) (*OwnChanges, error) {
	disk, err := u.capture(ctx, nil)
	if err != nil {
		return nil, err
	}
	return u.newStepsBack(disk.State(), plan.Merge).ownChanges(ctx, steps)
}

// RevertHunks takes chosen hunks of steps back. For each path of theirs, the work of the steps is
// taken to be one change, from what stands there after them without the chosen hunks. Later changes
// are merged. The operation moves no line. target is the checkpoint that it names.
func (u *LineUpdate) RevertHunks(ctx context.Context, own *OwnChanges, target string, opt RevertOptions) (*Result, error) {
	if err := checkPolicy(opt.OnConflict); err != nil {
		return nil, err
	}
	choice, err := u.repo.newHunkChoice(opt)
	if err != nil {
		return nil, err
	}
	choice.differ, choice.lister = own.differ, "cairn session diff --hunk-ids"
	within, err := u.repo.ScopeOf(opt.Paths)
	if err != nil {
		return nil, err
	}
	if err := u.publishFor(ctx); err != nil {
		return nil, err
	}
	disk := u.disk
	defer disk.SaveUnlessSaved(ctx, u.lock)
	p, err := u.planHunks(ctx, own, choice, within, opt.policy())
	if err != nil {
		return nil, err
	}
	return u.revert(ctx, p, target, opt)
}

func (u *LineUpdate) planHunks(ctx context.Context, own *OwnChanges, choice *hunkChoice, within *state.PathScope, policy plan.Policy) (*plan.Plan, error) {
	batch := u.repo.DB.NewBatch()
	defer batch.Discard()
	list := slices.DeleteFunc(slices.Clone(own.List), func(c history.Change) bool { return !within.Covers(c.Path) })
	ends, err := choice.pickAll(ctx, batch, list)
	if err != nil {
		return nil, err
	}
	b := own.back
	after, err := own.want(ends)
	if err != nil {
		return nil, err
	}
	without, base, err := b.aroundHunks(ctx, batch, after)
	if err != nil {
		return nil, err
	}
	if err := batch.Commit(); err != nil {
		return nil, err
	}
	chosen := slices.Collect(maps.Keys(after))
	changes, err := u.repo.changesOf(ctx, without, base, state.NewPathScope(nil).WithAlone(chosen))
	if err != nil {
		return nil, err
	}
	made := slices.DeleteFunc(slices.Collect(maps.Keys(b.made)), func(path string) bool { return !b.made[path] })
	return u.repo.planTakeBack(ctx, u.disk, changes, takeBackOptions{policy: policy, made: made, kept: b.kept, conflicts: b.conflicts})
}

// want makes the ends without the chosen hunks the wanted ones, and returns what stands at these
// paths after the steps. A path that may have existed before the steps is not deleted. What belongs
// to other sessions is listed nowhere: none of it was chosen.
func (o *OwnChanges) want(ends map[string]history.PathEnd) (after map[string]history.PathEnd, err error) {
	b := o.back
	b.kept, b.conflicts, b.pairs = nil, nil, nil
	after = make(map[string]history.PathEnd, len(ends))
	var changes []history.Change
	for i := range o.List {
		path := o.List[i].Path
		end, chosen := ends[path]
		if !chosen {
			continue
		}
		to := b.ways[path][0].to
		changes = append(changes, history.ChangeBetween(path, end, to))
		now, err := b.store.EndOf(b.start, path)
		if err != nil {
			return nil, err
		}
		if end.Entry == nil && now.Entry != nil && b.keepIfMayHaveExisted(path, false, o.before[path]) {
			continue
		}
		b.want[path], b.origin[path], after[path] = end, o.before[path], to
	}
	b.pairs = plan.Renames(changes)
	b.withdrawHalfRenames()
	maps.DeleteFunc(after, func(path string, _ history.PathEnd) bool {
		_, wanted := b.want[path]
		return !wanted
	})
	return after, nil
}

// aroundHunks returns the present state with the wanted ends, and with the ends after the steps.
func (b *stepsBack) aroundHunks(ctx context.Context, batch *odb.Batch, after map[string]history.PathEnd) (without, base state.State, err error) {
	start := capturedAt(b.start, after)
	if base, err = withEnds(b.store, batch, start, after); err != nil {
		return without, base, err
	}
	if without, err = withEnds(b.store, batch, start, b.want); err != nil {
		return without, base, err
	}
	if err := b.setPermsOfReturningDirs(without); err != nil {
		return without, base, err
	}
	return without, base, b.listEmptied(ctx, without, nil, b.dirsWithFiles())
}

// capturedAt is a state that counts as having captured some paths. What a capture could not read
// there is found again when the disk is compared.
func capturedAt(s state.State, paths map[string]history.PathEnd) state.State {
	above := state.DirsAbove(maps.Keys(paths))
	meta := *s.Meta
	meta.Skipped = slices.DeleteFunc(slices.Clone(meta.Skipped), func(skip state.Skipped) bool {
		path := string(skip.Path)
		_, chosen := paths[path]
		dir, name := index.Split(path)
		return chosen || above[path] || strings.EqualFold(name, ".gitignore") && (above[dir] || dir == "")
	})
	return state.State{Tree: s.Tree, Meta: &meta}
}
