package operation

import (
	"context"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// UndoneStep is a step to take back, with the facts about its paths. An empty To means that
// the step lasts until now.
type UndoneStep struct {
	plan.Step
	Made   []string    // paths that were certainly absent before it
	Hints  []Hint      // in the order of time
	Others []plan.Step // of other sessions, that overlap it

	// Overwritten: a revert in effect has taken it back with Overwrite. Later changes of its paths gave way to that, and
	// do not come back with another policy.
	Overwritten bool

	// Outside are the ids of its records of paths outside the root: those of each step that it stands
	// for, the newest step first.
	Outside [][]string
}

// Hint names paths that a step was about to change, and a checkpoint within the step. The
// checkpoint may be the first that holds an ignored file.
type Hint struct {
	Checkpoint string
	Paths      []string
}

// stepsBack computes a state without some steps, path by path, newest step first. Two steps
// with no other change between them count as one, so that the usual case needs no merge.
// Otherwise each step is taken out by a three-way merge of its own. At the first step that
// cannot be taken out, the path stays as it is by then.
type stepsBack struct {
	store   *history.Store
	stateOf func(ctx context.Context, id string) (state.State, error)
	start   state.State // the state to take the steps out of
	policy  plan.Policy

	ways    map[string][]stepEnds // of each path, newest step first
	dirs    map[string]dirEnds
	pairs   [][2]string // renames
	made    map[string]bool
	absence map[state.State]*plan.Absence // from the states before steps

	want            map[string]history.PathEnd // wanted ends that differ from start
	origin          map[string]state.State     // the state that a wanted end comes from
	leftOut         []plan.LeftOut
	kept, conflicts []state.PathReason
	merger          *plan.TextMerger
	lookups         map[*state.Metadata]*history.DirLookup
}

type stepEnds struct {
	from, to      history.PathEnd
	before, after state.State // of the step
	policy        plan.Policy // about changes after it
}

func (u *LineUpdate) newStepsBack(start state.State, policy plan.Policy) *stepsBack {
	return newStepsBack(u.repo.Store, u.stateOf, start, policy)
}

// newStepsBack takes steps out of start. stateOf finds the states that steps name.
func newStepsBack(
	store *history.Store, stateOf func(ctx context.Context, id string) (state.State, error),
	start state.State, policy plan.Policy,
) *stepsBack {
	return &stepsBack{
		store: store, stateOf: stateOf, start: start, policy: policy,
		ways: make(map[string][]stepEnds), dirs: make(map[string]dirEnds), made: make(map[string]bool), absence: make(map[state.State]*plan.Absence),
		want: make(map[string]history.PathEnd), origin: make(map[string]state.State), lookups: make(map[*state.Metadata]*history.DirLookup),
		merger: plan.NewTextMerger(store),
	}
}

// resolveAll works out the way back of all paths. Steps are given oldest first.
func (b *stepsBack) resolveAll(ctx context.Context, steps []UndoneStep) error {
	if err := b.collectAll(ctx, steps); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(b.ways)) { // the trees of one directory are asked in a row
		if err := b.resolve(path, b.ways[path]); err != nil {
			return err
		}
	}
	return b.dropImpossible(ctx)
}

// collectAll collects steps, which are given oldest first.
func (b *stepsBack) collectAll(ctx context.Context, steps []UndoneStep) error {
	for i := range slices.Backward(steps) {
		if err := b.collect(ctx, &steps[i]); err != nil {
			return err
		}
	}
	return nil
}

// collect records the changes of one step, without the paths of other sessions.
func (b *stepsBack) collect(ctx context.Context, step *UndoneStep) error {
	from, to, err := b.statesOf(ctx, step.From, step.To)
	if err != nil {
		return err
	}
	list, err := b.store.Changes(ctx, from, to, nil)
	if err != nil {
		return err
	}
	owners, err := b.owners(ctx, step)
	if err != nil {
		return err
	}
	own, stay := owners.WithoutOthers(list)
	kept, shared := plan.ByOwner(stay)
	b.kept, b.conflicts = append(b.kept, kept...), append(b.conflicts, shared...)
	left, err := plan.FindLeftOut(ctx, b.store, from, to, nil)
	if err != nil {
		return err
	}
	b.leftOut = append(b.leftOut, left...)
	if err := b.collectFiles(ctx, step, own, from, to); err != nil {
		return err
	}
	for _, path := range step.Made {
		b.absenceFrom(from).Known[path] = true
	}
	if err := b.collectDirs(from, to, owners); err != nil {
		return err
	}
	return b.collectDirsOfFiles(own, from, to, owners)
}

// statesOf finds the states before and after a step.
func (b *stepsBack) statesOf(ctx context.Context, before, after string) (from, to state.State, err error) {
	if from, err = b.stateOf(ctx, before); err != nil {
		return from, to, err
	}
	to, err = b.stateOf(ctx, after)
	return from, to, err
}

// collectFiles notes the files that a step changed.
func (b *stepsBack) collectFiles(ctx context.Context, step *UndoneStep, own []history.Change, from, to state.State) error {
	first, err := b.firstKnown(ctx, step.Hints, from)
	if err != nil {
		return err
	}
	for i := range own {
		c := &own[i]
		ends := stepEnds{
			from: history.PathEnd{Entry: history.OldEntry(c), Perm: c.OldPerm}, to: history.PathEnd{Entry: history.NewEntry(c), Perm: c.NewPerm},
			before: from, after: to, policy: b.policyFor(step),
		}
		if known, ok := first[c.Path]; ok {
			ends.from = known
		}
		if !ends.from.Same(ends.to) {
			b.ways[c.Path] = append(b.ways[c.Path], ends)
		}
	}
	b.pairs = append(b.pairs, plan.Renames(own)...)
	return nil
}

// policyFor is the policy about changes after a step.
func (b *stepsBack) policyFor(step *UndoneStep) plan.Policy {
	if step.Overwritten {
		return plan.Overwrite
	}
	return b.policy
}

// firstKnown returns the first known ends of hinted paths that the state before a step may have had without
// holding them. A path that was certainly absent before was made within the step: the hint of a later tool
// shows the work of an earlier one.
func (b *stepsBack) firstKnown(ctx context.Context, hints []Hint, from state.State) (map[string]history.PathEnd, error) {
	first := make(map[string]history.PathEnd)
	for _, hint := range hints {
		at, err := b.stateOf(ctx, hint.Checkpoint)
		if err != nil {
			return nil, err
		}
		for _, path := range hint.Paths {
			rel, err := b.store.Rel(path)
			if err != nil {
				continue
			}
			if _, ok := first[rel]; ok {
				continue
			}
			if before, err := b.store.EndOf(from, rel); err != nil {
				return nil, err
			} else if before.Entry != nil || b.absenceFrom(from).MayHaveExisted(rel, false) == "" {
				continue
			}
			end, err := b.store.EndOf(at, rel)
			if err != nil {
				return nil, err
			}
			if end.Entry != nil {
				first[rel] = end
			}
		}
	}
	return first, nil
}

// owners returns the attribution of a step; nil if other sessions do not count.
func (b *stepsBack) owners(ctx context.Context, step *UndoneStep) (*plan.Attribution, error) {
	if b.policyFor(step) == plan.Overwrite || len(step.Others) == 0 {
		return nil, nil
	}
	a := &plan.Attribution{Own: plan.ClaimedScope(b.store, step.Claims)}
	for _, o := range step.Others {
		other, err := b.other(ctx, o)
		if err != nil {
			return nil, err
		}
		a.Others = append(a.Others, other)
	}
	return a, nil
}

func (b *stepsBack) other(ctx context.Context, o plan.Step) (plan.OtherStep, error) {
	other := plan.OtherStep{
		Label: plan.Label(&o), Reverted: o.Reverted, Claims: plan.ClaimedScope(b.store, o.Claims),
		Changed: make(map[string]bool),
	}
	from, to, err := b.statesOf(ctx, o.From, o.To)
	if err != nil {
		return other, err
	}
	list, err := b.store.Changes(ctx, from, to, nil)
	for i := range list {
		other.Changed[list[i].Path] = true
	}
	if err != nil {
		return other, err
	}
	dirs, err := b.store.ChangedDirs(from, to)
	for dir := range dirs {
		other.Changed[dir] = true
	}
	return other, err
}

// resolve takes the steps that changed a path out of its end at the start.
func (b *stepsBack) resolve(path string, way []stepEnds) error {
	at, err := b.store.EndOf(b.start, path)
	if err != nil {
		return err
	}
	now := at
	var origin state.State
	for len(way) > 0 {
		policy := way[0].policy
		var first stepEnds
		var to history.PathEnd
		first, to, way = newestRun(way)
		next, err := b.revertStep(path, first.from, to, now, policy)
		if err != nil {
			return err
		}
		if next == nil {
			break
		}
		if next.Entry == nil && now.Entry != nil && b.keepIfMayHaveExisted(path, false, first.before) {
			break
		}
		now, origin = *next, first.before
	}
	if !now.Same(at) {
		b.want[path], b.origin[path] = now, origin
	}
	return nil
}

// newestRun splits off the newest steps of a way that have no other change between them: the oldest
// of them, and what stands at the path after the newest.
func newestRun(way []stepEnds) (first stepEnds, to history.PathEnd, older []stepEnds) {
	first, to = way[0], way[0].to
	for older = way[1:]; len(older) > 0 && older[0].to.Same(first.from); older = older[1:] {
		first = older[0]
	}
	return first, to, older
}

// revertStep takes one step out of the end now; nil means that the path stays.
func (b *stepsBack) revertStep(path string, from, to, now history.PathEnd, policy plan.Policy) (*history.PathEnd, error) {
	end, reason, err := plan.Merge3(to, now, from, policy, b.merger.Contents)
	if err != nil || reason == "" {
		return &end, err
	}
	stays := state.PathReason{Path: state.Path(path), Reason: reason}
	if b.policy == plan.Keep {
		b.kept = append(b.kept, stays)
	} else {
		b.conflicts = append(b.conflicts, stays)
	}
	return nil, nil
}

func (b *stepsBack) absenceFrom(s state.State) *plan.Absence {
	if b.absence[s] == nil {
		b.absence[s] = plan.NewAbsence(b.store, s, b.start)
	}
	return b.absence[s]
}

// keepIfMayHaveExisted lists a path as kept if the state before a step may have had it without
// holding it.
func (b *stepsBack) keepIfMayHaveExisted(path string, dir bool, before state.State) bool {
	absence := b.absenceFrom(before)
	b.made[path] = absence.Known[path]
	reason := absence.MayHaveExisted(path, dir)
	if reason != "" {
		b.kept = append(b.kept, state.PathReason{Path: state.Path(path), Reason: reason})
	}
	return reason != ""
}

// stateOf is the state of a checkpoint, or of the disk where id is empty.
func (u *LineUpdate) stateOf(ctx context.Context, id string) (state.State, error) {
	if id == "" {
		c, err := u.capture(ctx, nil)
		if err != nil {
			return state.State{}, err
		}
		return c.State(), nil
	}
	c, err := u.byID(id)
	if err != nil {
		return state.State{}, err
	}
	return history.StateOf(c)
}
