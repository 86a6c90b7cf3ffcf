package cairn

import (
	"context"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// UndoneStep is a step that is taken back, with what is known about who did what in
// it. An empty To means that it lasts until now.
type UndoneStep struct {
	Step
	Made   []string // paths that are known to have been absent before it
	Hints  []Hint   // in the order of time
	Others []Step   // of other sessions, that overlap it
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
	start  state // that the steps are taken out of
	policy Policy

	ways   map[string][]stepEnds // of each path, newest step first
	dirs   map[string]dirEnds
	pairs  [][2]string // renames
	made   map[string]bool
	unheld map[state]*unheld // of the states before steps

	want            map[string]pathEnd // where it is not as at start
	origin          map[string]state   // that what is wanted comes from
	leftOut         []leftOut
	kept, conflicts []PathReason
	merger          *planner
	lookups         map[*metadata]*dirLookup
}

// pathEnd is a file or symlink at one end of a step; entry is nil where there is none.
type pathEnd struct {
	entry *object.Entry
	perm  uint16
}

type stepEnds struct {
	from, to pathEnd
	before   state // of the step
}

// dirEnds are the states before the oldest step that changed a directory, and after
// the newest.
type dirEnds struct{ from, to state }

func (a pathEnd) same(b pathEnd) bool {
	if a.entry == nil || b.entry == nil {
		return a.entry == b.entry
	}
	return a.entry.Mode == b.entry.Mode && a.entry.ID == b.entry.ID && (a.entry.Mode == object.Symlink || a.perm == b.perm)
}

func (u *LineUpdate) newStepsBack(ctx context.Context, start state, policy Policy) *stepsBack {
	return &stepsBack{
		u: u, ctx: ctx, start: start, policy: policy,
		ways: make(map[string][]stepEnds), dirs: make(map[string]dirEnds), made: make(map[string]bool), unheld: make(map[state]*unheld), want: make(map[string]pathEnd), origin: make(map[string]state),
		lookups: make(map[*metadata]*dirLookup),
		merger:  &planner{repo: u.repo, ctx: ctx, way: &threeWay{merged: make(map[object.ID][]byte)}},
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
	list, err := b.u.repo.changes(b.ctx, from, to, nil)
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
	own, stay := owners.withoutOthers(list)
	kept, shared := byOwner(stay)
	b.kept, b.conflicts = append(b.kept, kept...), append(b.conflicts, shared...)
	left, err := findLeftOut(b.ctx, b.u.repo, from, to, nil)
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
		ends := stepEnds{pathEnd{c.oldEntry(), c.OldPerm}, pathEnd{c.newEntry(), c.NewPerm}, from}
		if known, ok := first[c.Path]; ok {
			ends.from = known
		}
		if !ends.from.same(ends.to) {
			b.ways[c.Path] = append(b.ways[c.Path], ends)
		}
	}
	b.pairs = append(b.pairs, renames(own)...)
	dirs, err := b.u.repo.changedDirs(from, to)
	if err != nil {
		return err
	}
	for dir := range dirs {
		if owners.stays(dir) != "" {
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
func (b *stepsBack) firstKnown(hints []Hint, from state) (map[string]pathEnd, error) {
	first := make(map[string]pathEnd)
	for _, hint := range hints {
		at, err := b.u.stateOf(b.ctx, hint.Checkpoint)
		if err != nil {
			return nil, err
		}
		for _, path := range hint.Paths {
			rel, err := b.u.repo.rel(path)
			if err != nil {
				continue
			}
			if _, ok := first[rel]; ok {
				continue
			}
			if before, err := b.u.repo.endOf(from, rel); err != nil || before.entry != nil {
				if err != nil {
					return nil, err
				}
				continue
			}
			end, err := b.u.repo.endOf(at, rel)
			if err != nil {
				return nil, err
			}
			if end.entry != nil {
				first[rel] = end
			}
		}
	}
	return first, nil
}

// owners is the attribution of a step; nil where nobody else counts.
func (b *stepsBack) owners(step *UndoneStep) (*attribution, error) {
	if b.policy == Overwrite || len(step.Others) == 0 {
		return nil, nil
	}
	a := &attribution{own: claimedScope(b.u.repo, step.Claims)}
	for _, o := range step.Others {
		other, err := b.other(o)
		if err != nil {
			return nil, err
		}
		a.others = append(a.others, other)
	}
	return a, nil
}

func (b *stepsBack) other(o Step) (otherStep, error) {
	other := otherStep{label: o.label(), reverted: o.Reverted, claims: claimedScope(b.u.repo, o.Claims), changed: make(map[string]bool)}
	from, err := b.u.stateOf(b.ctx, o.From)
	if err != nil {
		return other, err
	}
	to, err := b.u.stateOf(b.ctx, o.To)
	if err != nil {
		return other, err
	}
	list, err := b.u.repo.changes(b.ctx, from, to, nil)
	for i := range list {
		other.changed[list[i].Path] = true
	}
	if err != nil {
		return other, err
	}
	dirs, err := b.u.repo.changedDirs(from, to)
	for dir := range dirs {
		other.changed[dir] = true
	}
	return other, err
}

// resolve takes the steps that changed a path out of what it is at the start.
func (b *stepsBack) resolve(path string, way []stepEnds) error {
	at, err := b.u.repo.endOf(b.start, path)
	if err != nil {
		return err
	}
	now := at
	var origin state
	for len(way) > 0 {
		first, to := way[0], way[0].to
		for way = way[1:]; len(way) > 0 && way[0].to.same(first.from); way = way[1:] {
			first = way[0]
		}
		next, err := b.back(path, first.from, to, now)
		if err != nil {
			return err
		}
		if next == nil {
			break
		}
		if next.entry == nil && now.entry != nil && b.keptAsBefore(path, false, first.before) {
			break
		}
		now, origin = *next, first.before
	}
	if !now.same(at) {
		b.want[path], b.origin[path] = now, origin
	}
	return nil
}

// back takes one step out of what a path is now; nil means that it stays.
func (b *stepsBack) back(path string, from, to, now pathEnd) (*pathEnd, error) {
	switch {
	case now.same(from): // somebody did it already
		return &now, nil
	case now.same(to) || b.policy == Overwrite:
		return &from, nil
	case b.policy == Keep:
		b.kept = append(b.kept, PathReason{path, reasonChangedSince})
		return nil, nil
	case b.policy == Fail:
		b.conflicts = append(b.conflicts, PathReason{path, reasonChangedSince})
		return nil, nil
	}
	merged, reason, err := b.merge(from, to, now)
	if reason != "" {
		b.conflicts = append(b.conflicts, PathReason{path, reason})
		return nil, err
	}
	return merged, err
}

func (b *stepsBack) merge(from, to, now pathEnd) (merged *pathEnd, reason string, err error) {
	switch {
	case now.entry == nil:
		return nil, reasonGoneSince, nil
	case to.entry == nil:
		return nil, reasonMadeSince, nil
	case from.entry == nil:
		return nil, reasonChangedSince, nil
	case !now.entry.Mode.IsFile() || !to.entry.Mode.IsFile() || !from.entry.Mode.IsFile():
		return nil, reasonNotText, nil
	}
	id, reason, err := b.merger.mergeContents(to.entry, now.entry, from.entry)
	if err != nil || reason != "" {
		return nil, reason, err
	}
	out := now
	if now.perm == to.perm && now.entry.Mode == to.entry.Mode {
		out = from
	}
	return &pathEnd{&object.Entry{Name: out.entry.Name, Mode: out.entry.Mode, ID: id}, out.perm}, "", nil
}

// unheld answers what a state may have had without holding it.
type unheld struct {
	covered coverage
	rules   *treeRules
	absent  map[string]bool // known not to have been there
}

func (b *stepsBack) unheldAt(s state) *unheld {
	if b.unheld[s] == nil {
		b.unheld[s] = &unheld{newCoverage(s.meta), b.u.repo.treeRules(s, b.start), make(map[string]bool)}
	}
	return b.unheld[s]
}

// keptAsBefore keeps a path that the state before a step may have had without holding it.
func (b *stepsBack) keptAsBefore(path string, dir bool, before state) bool {
	at := b.unheldAt(before)
	if b.made[path] = at.absent[path]; b.made[path] {
		return false
	}
	reason := at.covered.uncaptured(path)
	if reason != "" {
		reason = reasonNotCaptured + reason
	} else {
		reason = at.rules.mayHaveIgnored(path, dir, reasonIgnoredThen, reasonRulesThen)
	}
	if reason != "" {
		b.kept = append(b.kept, PathReason{path, reason})
	}
	return reason != ""
}

// endOf is the file or symlink of a state at a path.
func (r *Repo) endOf(s state, path string) (pathEnd, error) {
	e, err := r.entryOrNil(s.tree, path)
	if err != nil || e == nil || e.Mode == object.Dir {
		return pathEnd{}, err
	}
	return pathEnd{e, s.meta.perm(path, e.Mode)}, nil
}

// stateOf is the state of a checkpoint, or of the disk where id is empty.
func (u *LineUpdate) stateOf(ctx context.Context, id string) (state, error) {
	if id == "" {
		c, err := u.capture(ctx, nil)
		if err != nil {
			return state{}, err
		}
		return state{c.tree, c.metadata()}, nil
	}
	c, err := u.byID(id)
	if err != nil {
		return state{}, err
	}
	return c.state()
}
