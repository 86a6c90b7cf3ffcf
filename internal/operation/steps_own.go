package operation

import (
	"context"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/diff"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// OwnChanges are the changes of some steps without the changes that other writers made between
// them. The new side of a path is what stands there after the last of the steps. The old side is the
// same without the steps. Its text may be one that no checkpoint holds. Only OwnChanges can read
// such a text.
//
// A step that does not come out of the work of others by a clean merge is left out, and so are the
// older steps at this path. A narrower choice of steps shows them.
type OwnChanges struct {
	List []history.Change // ordered by path
	Open bool             // a step lasts until now, so that its hunks do not go back yet

	differ *diff.Differ
	back   *stepsBack
	before map[string]state.State // of a changed file: the state before the oldest of its steps
}

// WriteDiff writes the unified diff of some of the changes.
func (o *OwnChanges) WriteDiff(ctx context.Context, w io.Writer, list []history.Change, opt diff.DiffOptions) error {
	return o.differ.WriteDiff(ctx, w, list, opt)
}

// FileDiffs yields a FileDiff for each of some of the changes.
func (o *OwnChanges) FileDiffs(ctx context.Context, list []history.Change, opt diff.DiffOptions) iter.Seq2[diff.FileDiff, error] {
	return o.differ.FileDiffs(ctx, list, opt)
}

// CountLines counts the added and deleted lines of one of the changes. Both are zero for a file that
// is not compared line by line; note says why.
func (o *OwnChanges) CountLines(c *history.Change, opt diff.DiffOptions) (additions, deletions int, note string, err error) {
	return o.differ.CountLines(c, opt)
}

// OwnChanges lists what some steps changed themselves. Paths that belong to other sessions or are
// shared with them are left out.
func (r *Operator) OwnChanges(ctx context.Context, steps []UndoneStep) (own *OwnChanges, err error) {
	err = r.withStates(ctx, steps, func(u *LineUpdate) error {
		own, err = u.newStepsBack(state.State{}, plan.Merge).ownChanges(ctx, steps)
		return err
	})
	return own, err
}

func (b *stepsBack) ownChanges(ctx context.Context, steps []UndoneStep) (*OwnChanges, error) {
	if err := b.collectAll(ctx, steps); err != nil {
		return nil, err
	}
	unstored := make(map[object.ID][]byte)
	own := &OwnChanges{differ: &diff.Differ{Store: b.store, Unstored: unstored}, back: b, before: make(map[string]state.State)}
	own.Open = slices.ContainsFunc(steps, func(s UndoneStep) bool { return s.To == "" })
	for _, path := range slices.Sorted(maps.Keys(b.ways)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := own.add(path, b.ways[path]); err != nil {
			return nil, err
		}
	}
	dirs, err := b.chmoddedDirs()
	own.List = append(own.List, dirs...)
	slices.SortFunc(own.List, byPath)
	return own, err
}

// add works out the change of a path.
func (o *OwnChanges) add(path string, way []stepEnds) error {
	merger := plan.NewTextMerger(o.back.store)
	to := way[0].to
	from := to
	for len(way) > 0 {
		first, after, older := newestRun(way)
		end, reason, err := plan.Merge3(after, from, first.from, plan.Merge, merger.Contents)
		if err != nil {
			return err
		}
		if reason != "" {
			break
		}
		from, way = end, older
		o.before[path] = first.before
	}
	if from.Same(to) {
		return nil
	}
	if from.Entry != nil && merger.Merged[from.Entry.ID] != nil {
		o.differ.Unstored[from.Entry.ID] = merger.Merged[from.Entry.ID]
	}
	o.List = append(o.List, history.ChangeBetween(path, from, to))
	return nil
}
