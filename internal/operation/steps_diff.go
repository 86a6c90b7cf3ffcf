package operation

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// StepChanges lists what some steps changed, each path from before the first of them
// that changed it to after the last, ordered by path. Paths that belong to other
// sessions or are shared with them are left out.
func (r *Operator) StepChanges(ctx context.Context, steps []UndoneStep) (list []history.Change, err error) {
	err = r.withStates(ctx, steps, func(u *LineUpdate) error {
		list, err = u.stepChanges(ctx, steps)
		return err
	})
	return list, err
}

// withStates calls f with an update that finds the states of some steps. It captures the disk only
// if one of the steps lasts until now.
func (r *Operator) withStates(ctx context.Context, steps []UndoneStep, f func(*LineUpdate) error) error {
	lasts := slices.ContainsFunc(steps, func(s UndoneStep) bool {
		return s.To == "" || slices.ContainsFunc(s.Others, func(o plan.Step) bool { return o.To == "" })
	})
	if !lasts {
		return f(&LineUpdate{repo: r})
	}
	return r.UpdateLines(ctx, func(u *LineUpdate) error {
		if _, err := u.capture(ctx, nil); err != nil {
			return err
		}
		if err := u.publish(ctx); err != nil {
			return err
		}
		return f(u)
	})
}

func (u *LineUpdate) stepChanges(ctx context.Context, steps []UndoneStep) ([]history.Change, error) {
	b := u.newStepsBack(state.State{}, plan.Merge)
	if err := b.collectAll(ctx, steps); err != nil {
		return nil, err
	}
	list, err := b.chmoddedDirs()
	if err != nil {
		return nil, err
	}
	for path, way := range b.ways {
		if from, to := way[len(way)-1].from, way[0].to; !from.Same(to) {
			list = append(list, history.ChangeBetween(path, from, to))
		}
	}
	slices.SortFunc(list, byPath)
	return list, nil
}

func byPath(x, y history.Change) int { return strings.Compare(x.Path, y.Path) }

// chmoddedDirs lists the directories whose permission bits the steps changed, in any order.
func (b *stepsBack) chmoddedDirs() (list []history.Change, err error) {
	for dir, ends := range b.dirs {
		old, err := b.dirAt(ends.from, dir)
		if err != nil {
			return nil, err
		}
		now, err := b.dirAt(ends.to, dir)
		if err != nil {
			return nil, err
		}
		if old.There && now.There && old.Perm != now.Perm {
			list = append(list, history.Chmod(dir, old.Perm, now.Perm))
		}
	}
	return list, nil
}
