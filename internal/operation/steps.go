package operation

import (
	"context"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// UndoneStep is a step that is taken back, with what is known about who did what in
// it. An empty To means that it lasts until now.
type UndoneStep struct {
	plan.Step
	Made   []string    // paths that are known to have been absent before it
	Hints  []Hint      // in the order of time
	Others []plan.Step // of other sessions, that overlap it
}

// Hint names paths that a step was about to change at a checkpoint within it. Of an
// ignored file that is the first that is known.
type Hint struct {
	Checkpoint string
	Paths      []string
}

// stepsBack works out, path by path, what a state would be without some steps: the
// newest step is taken out first. Where nobody else wrote between two steps they are
// one, so that the usual case needs no merge; where somebody did, each step is taken
// out by a three-way merge of its own. A path is taken back as far as that goes.
type stepsBack struct {
	u      *LineUpdate // for its repo, and its capture where a step lasts until now
	ctx    context.Context
	start  state.State // that the steps are taken out of
	policy plan.Policy

	ways   map[string][]stepEnds // of each path, newest step first
	dirs   map[string]dirEnds
	pairs  [][2]string // renames
	made   map[string]bool
	unheld map[state.State]*unheld // of the states before steps

	want            map[string]history.PathEnd // where it is not as at start
	origin          map[string]state.State     // that what is wanted comes from
	leftOut         []plan.LeftOut
	kept, conflicts []state.PathReason
	merger          *plan.Planner
	lookups         map[*state.Metadata]*history.DirLookup
}

type stepEnds struct {
	from, to history.PathEnd
	before   state.State // of the step
}

// dirEnds are the states before the oldest step that changed a directory, and after
// the newest.
type dirEnds struct{ from, to state.State }

func (u *LineUpdate) newStepsBack(ctx context.Context, start state.State, policy plan.Policy) *stepsBack {
	return &stepsBack{
		u: u, ctx: ctx, start: start, policy: policy,
		ways: make(map[string][]stepEnds), dirs: make(map[string]dirEnds), made: make(map[string]bool), unheld: make(map[state.State]*unheld), want: make(map[string]history.PathEnd), origin: make(map[string]state.State),
		lookups: make(map[*state.Metadata]*history.DirLookup),
		merger:  &plan.Planner{Repo: u.repo.Store, Ctx: ctx, Way: &plan.ThreeWay{Merged: make(map[object.ID][]byte)}},
	}
}

// takeOut works out the way of all paths. Steps are given oldest first.
func (b *stepsBack) takeOut(steps []UndoneStep) error {
	for i := range slices.Backward(steps) {
		if err := b.collect(&steps[i]); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(b.ways)) { // the trees of one directory are asked in a row
		if err := b.resolve(path, b.ways[path]); err != nil {
			return err
		}
	}
	return b.settleStructure()
}

// collect notes what one step changed and whoever it belongs to.
func (b *stepsBack) collect(step *UndoneStep) error {
	from, err := b.u.stateOf(b.ctx, step.From)
	if err != nil {
		return err
	}
	to, err := b.u.stateOf(b.ctx, step.To)
	if err != nil {
		return err
	}
	list, err := b.u.repo.Changes(b.ctx, from, to, nil)
	if err != nil {
		return err
	}
	first, err := b.firstKnown(step.Hints, from)
	if err != nil {
		return err
	}
	owners, err := b.owners(step)
	if err != nil {
		return err
	}
	own, stay := owners.WithoutOthers(list)
	kept, shared := plan.ByOwner(stay)
	b.kept, b.conflicts = append(b.kept, kept...), append(b.conflicts, shared...)
	left, err := plan.FindLeftOut(b.ctx, b.u.repo.Store, from, to, nil)
	if err != nil {
		return err
	}
	b.leftOut = append(b.leftOut, left...)
	absent := b.unheldAt(from).absent
	for _, path := range step.Made {
		absent[path] = true
	}
	for i := range own {
		c := &own[i]
		ends := stepEnds{history.PathEnd{Entry: history.OldEntry(c), Perm: c.OldPerm}, history.PathEnd{Entry: history.NewEntry(c), Perm: c.NewPerm}, from}
		if known, ok := first[c.Path]; ok {
			ends.from = known
		}
		if !ends.from.Same(ends.to) {
			b.ways[c.Path] = append(b.ways[c.Path], ends)
		}
	}
	b.pairs = append(b.pairs, plan.Renames(own)...)
	dirs, err := b.u.repo.ChangedDirs(from, to)
	if err != nil {
		return err
	}
	for dir := range dirs {
		if owners.Stays(dir) != "" {
			continue
		}
		ends := dirEnds{from, to}
		if later, ok := b.dirs[dir]; ok {
			ends.to = later.to
		}
		b.dirs[dir] = ends
	}
	return nil
}

// firstKnown finds what hinted paths were that the state before a step does not hold.
func (b *stepsBack) firstKnown(hints []Hint, from state.State) (map[string]history.PathEnd, error) {
	first := make(map[string]history.PathEnd)
	for _, hint := range hints {
		at, err := b.u.stateOf(b.ctx, hint.Checkpoint)
		if err != nil {
			return nil, err
		}
		for _, path := range hint.Paths {
			rel, err := b.u.repo.Rel(path)
			if err != nil {
				continue
			}
			if _, ok := first[rel]; ok {
				continue
			}
			if before, err := b.u.repo.EndOf(from, rel); err != nil || before.Entry != nil {
				if err != nil {
					return nil, err
				}
				continue
			}
			end, err := b.u.repo.EndOf(at, rel)
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

// owners is the attribution of a step; nil where nobody else counts.
func (b *stepsBack) owners(step *UndoneStep) (*plan.Attribution, error) {
	if b.policy == plan.Overwrite || len(step.Others) == 0 {
		return nil, nil
	}
	a := &plan.Attribution{Own: plan.ClaimedScope(b.u.repo.Store, step.Claims)}
	for _, o := range step.Others {
		other, err := b.other(o)
		if err != nil {
			return nil, err
		}
		a.Others = append(a.Others, other)
	}
	return a, nil
}

func (b *stepsBack) other(o plan.Step) (plan.OtherStep, error) {
	other := plan.OtherStep{Label: plan.Label(&o), Reverted: o.Reverted, Claims: plan.ClaimedScope(b.u.repo.Store, o.Claims), Changed: make(map[string]bool)}
	from, err := b.u.stateOf(b.ctx, o.From)
	if err != nil {
		return other, err
	}
	to, err := b.u.stateOf(b.ctx, o.To)
	if err != nil {
		return other, err
	}
	list, err := b.u.repo.Changes(b.ctx, from, to, nil)
	for i := range list {
		other.Changed[list[i].Path] = true
	}
	if err != nil {
		return other, err
	}
	dirs, err := b.u.repo.ChangedDirs(from, to)
	for dir := range dirs {
		other.Changed[dir] = true
	}
	return other, err
}

// resolve takes the steps that changed a path out of what it is at the start.
func (b *stepsBack) resolve(path string, way []stepEnds) error {
	at, err := b.u.repo.EndOf(b.start, path)
	if err != nil {
		return err
	}
	now := at
	var origin state.State
	for len(way) > 0 {
		first, to := way[0], way[0].to
		for way = way[1:]; len(way) > 0 && way[0].to.Same(first.from); way = way[1:] {
			first = way[0]
		}
		next, err := b.back(path, first.from, to, now)
		if err != nil {
			return err
		}
		if next == nil {
			break
		}
		if next.Entry == nil && now.Entry != nil && b.keptAsBefore(path, false, first.before) {
			break
		}
		now, origin = *next, first.before
	}
	if !now.Same(at) {
		b.want[path], b.origin[path] = now, origin
	}
	return nil
}

// back takes one step out of what a path is now; nil means that it stays.
func (b *stepsBack) back(path string, from, to, now history.PathEnd) (*history.PathEnd, error) {
	switch {
	case now.Same(from): // somebody did it already
		return &now, nil
	case now.Same(to) || b.policy == plan.Overwrite:
		return &from, nil
	case b.policy == plan.Keep:
		b.kept = append(b.kept, state.PathReason{Path: path, Reason: plan.ReasonChangedSince})
		return nil, nil
	case b.policy == plan.Fail:
		b.conflicts = append(b.conflicts, state.PathReason{Path: path, Reason: plan.ReasonChangedSince})
		return nil, nil
	}
	merged, reason, err := b.merge(from, to, now)
	if reason != "" {
		b.conflicts = append(b.conflicts, state.PathReason{Path: path, Reason: reason})
		return nil, err
	}
	return merged, err
}

func (b *stepsBack) merge(from, to, now history.PathEnd) (merged *history.PathEnd, reason string, err error) {
	switch {
	case now.Entry == nil:
		return nil, plan.ReasonGoneSince, nil
	case to.Entry == nil:
		return nil, plan.ReasonMadeSince, nil
	case from.Entry == nil:
		return nil, plan.ReasonChangedSince, nil
	case !now.Entry.Mode.IsFile() || !to.Entry.Mode.IsFile() || !from.Entry.Mode.IsFile():
		return nil, plan.ReasonNotText, nil
	}
	id, reason, err := b.merger.MergeContents(to.Entry, now.Entry, from.Entry)
	if err != nil || reason != "" {
		return nil, reason, err
	}
	out := now
	if now.Perm == to.Perm && now.Entry.Mode == to.Entry.Mode {
		out = from
	}
	return &history.PathEnd{Entry: &object.Entry{Name: out.Entry.Name, Mode: out.Entry.Mode, ID: id}, Perm: out.Perm}, "", nil
}

// unheld answers what a state may have had without holding it.
type unheld struct {
	covered state.Coverage
	rules   *history.TreeRules
	absent  map[string]bool // known not to have been there
}

func (b *stepsBack) unheldAt(s state.State) *unheld {
	if b.unheld[s] == nil {
		b.unheld[s] = &unheld{state.NewCoverage(s.Meta), b.u.repo.TreeRules(s, b.start), make(map[string]bool)}
	}
	return b.unheld[s]
}

// keptAsBefore keeps a path that the state before a step may have had without holding it.
func (b *stepsBack) keptAsBefore(path string, dir bool, before state.State) bool {
	at := b.unheldAt(before)
	if b.made[path] = at.absent[path]; b.made[path] {
		return false
	}
	reason := at.covered.Uncaptured(path)
	if reason != "" {
		reason = plan.ReasonNotCaptured + reason
	} else {
		reason = at.rules.MayHaveIgnored(path, dir, plan.ReasonIgnoredThen, plan.ReasonRulesThen)
	}
	if reason != "" {
		b.kept = append(b.kept, state.PathReason{Path: path, Reason: reason})
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
		return state.State{Tree: c.Tree, Meta: c.Metadata()}, nil
	}
	c, err := u.byID(id)
	if err != nil {
		return state.State{}, err
	}
	return history.StateOf(c)
}
