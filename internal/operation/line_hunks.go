package operation

import (
	"context"
	"maps"
	"slices"

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

func (u *LineUpdate) planHunks(
	ctx context.Context, own *OwnChanges, choice *hunkChoice, within *state.PathScope,
	policy plan.Policy,
) (*plan.Plan, error) {
	batch := u.repo.DB.NewBatch()
	defer batch.Discard()
	list := slices.DeleteFunc(slices.Clone(own.List), func(c history.Change) bool { return !within.Covers(c.Path) })
	ends, err := choice.pickAll(ctx, batch, list)
	if err != nil {
		return nil, err
	}
	b := own.back
	after, err := own.want(ctx, ends)
	if err != nil {
		return nil, err
	}
	without, base, dirs, err := b.aroundHunks(ctx, batch, after)
	if err != nil {
		return nil, err
	}
	if err := batch.Commit(); err != nil {
		return nil, err
	}
	chosen := slices.AppendSeq(dirs, maps.Keys(after))
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
func (o *OwnChanges) want(ctx context.Context, ends map[string]history.PathEnd) (after map[string]history.PathEnd, err error) {
	b := o.back
	if err := o.addInTheWay(ctx, ends); err != nil {
		return nil, err
	}
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

// addInTheWay adds the files that the steps made in the place of a file that comes back. It adds none
// if anything else stands there by now: the file stays away then, and so nothing is to go.
func (o *OwnChanges) addInTheWay(ctx context.Context, ends map[string]history.PathEnd) error {
	for i := range o.List {
		c := &o.List[i]
		if ends[c.Path].Entry == nil || c.Status != history.Deleted {
			continue
		}
		made, err := o.madeBelow(ctx, c.Path)
		if err != nil {
			return err
		}
		for _, path := range made {
			if _, chosen := ends[path]; !chosen {
				ends[path] = history.PathEnd{}
			}
		}
	}
	return nil
}

// madeBelow lists the files below a path if the steps made all that stands there.
func (o *OwnChanges) madeBelow(ctx context.Context, dir string) (made []string, err error) {
	b, scope := o.back, state.NewPathScope([]string{dir})
	for _, skip := range b.start.Meta.Skipped {
		if scope.Covers(string(skip.Path)) {
			return nil, nil
		}
	}
	for c, err := range b.store.WalkTree(ctx, b.start.Tree, scope) {
		if err != nil {
			return nil, err
		}
		way := b.ways[c.Path]
		if len(way) == 0 || way[len(way)-1].from.Entry != nil || !history.EndWith(b.start, c.Path, c.New).Same(way[0].to) {
			return nil, nil
		}
		made = append(made, c.Path)
	}
	return made, nil
}

// aroundHunks returns the present state with the wanted ends, and with the ends after the steps. dirs
// are the directories that come back in the place of files.
func (b *stepsBack) aroundHunks(
	ctx context.Context, batch *odb.Batch, after map[string]history.PathEnd,
) (without, base state.State, dirs []string, err error) {
	start := clearedAt(b.start, after)
	if base, err = WithEnds(b.store, batch, start, after); err != nil {
		return without, base, nil, err
	}
	if without, err = WithEnds(b.store, batch, start, b.want); err != nil {
		return without, base, nil, err
	}
	if err := b.setPermsOfReturningDirs(without); err != nil {
		return without, base, nil, err
	}
	if dirs, err = b.addDirsInPlace(ctx, without); err != nil {
		return without, base, nil, err
	}
	return without, base, dirs, b.listEmptied(ctx, without, nil, b.dirsWithFiles())
}

// clearedAt is a state with nothing at or below some paths, which counts as having captured them. Later
// work at and below the paths is found when the disk is compared. The tree stays as it is: the ends
// of the paths replace what it has there.
func clearedAt(s state.State, paths map[string]history.PathEnd) state.State {
	above := state.DirsAbove(maps.Keys(paths))
	meta := *s.Meta
	meta.Skipped = slices.DeleteFunc(slices.Clone(meta.Skipped), func(skip state.Skipped) bool {
		path := string(skip.Path)
		_, chosen := paths[path]
		dir, name := index.Split(path)
		return chosen || above[path] || index.IsIgnoreFile(name) && (above[dir] || dir == "")
	})
	below := func(dir state.Path) bool {
		for at := string(dir); at != ""; at, _ = index.Split(at) {
			if _, chosen := paths[at]; chosen {
				return true
			}
		}
		return false
	}
	meta.Empty = slices.DeleteFunc(slices.Clone(meta.Empty), below)
	meta.Bare = slices.DeleteFunc(slices.Clone(meta.Bare), below)
	return state.State{Tree: s.Tree, Meta: &meta}
}
