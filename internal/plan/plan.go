package plan

import (
	"context"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// Plan is what a restore or revert is going to do, path by path.
type Plan struct {
	Changes   []apply.Change
	Losses    []string             // uncaptured paths that the plan overwrites or deletes; the operation saves them first
	Merged    map[object.ID][]byte // merged contents that no store holds yet, by blob id
	Mixed     []string             // paths whose planned content holds later changes, too
	Kept      []state.PathReason
	Conflicts []state.PathReason
}

// planner compares the disk with a target and collects a plan. It writes nothing.
type planner struct {
	Plan
	store    *history.Store
	live     Disk
	captured *history.DiskState
	now      state.State // as captured
	target   state.State
	scope    *state.PathScope
	keepNew  bool
	way      *ThreeWay        // nil: later changes do not count
	step     []history.Change // see Options
	merger   *TextMerger

	absence    *Absence        // what the target certainly lacked
	atBase     *state.Coverage // paths that Way.Base did not capture
	dirs       *dirSet         // found with the files
	unread     map[string]bool // directories reported unread
	blocked    map[string]bool
	targetDirs *history.DirLookup
	removed    map[string]bool   // paths with a planned deletion; they are not listed as kept
	baseDirs   map[string]bool   // see isLaterDir
	cleared    map[string]bool   // paths that the plan removes
	unmade     map[string]bool   // files that settle leaves unmade
	instead    map[string]string // by the removed path: the path made in its place, see apply.Change.As
}

// Reasons for a path to stay.
const (
	ReasonIgnoredThen  = "ignored at the target, so it may have existed"
	ReasonIgnoredToday = "ignored now, so the target may have had it"
	reasonRulesThen    = "below ignore rules that are not known of the target, so it may have existed"
	reasonRulesToday   = "below ignore rules that cannot be read now, so the target may have had it"
	ReasonNotCaptured  = "present but not captured at the target: "
	reasonUnreadable   = "unreadable, so it cannot be saved first"
	reasonSpecial      = "a special file, which cannot be saved first"
	reasonInTheWay     = "something that is not captured stands in the way: "
)

// Options narrows a plan.
type Options struct {
	Scope   *state.PathScope // nil = everything
	KeepNew bool             // remove nothing but what stands in the way
	Way     *ThreeWay        // the changes to take back; nil = everything goes to the target
	Step    []history.Change // of the changes to take back, for their renames
	Pairs   [][2]string      // further renames of the step, of files that were changed as well
	LeftOut []LeftOut        // differing paths that one of the two states did not capture

	// Kept and Conflicts were found before planning. The plan lists them, too.
	Kept, Conflicts []state.PathReason
}

// Make plans how the disk becomes as the target within the scope. The steps, in order:
//
//  1. uncaptured files that the changes to take back have made
//  2. files that differ in contents, kind or exec bit
//  3. uncaptured files of the disk that the target lacked
//  4. permission bits
//  5. directories: make the empty ones of the target, remove those that it lacked
func Make(
	ctx context.Context, store *history.Store, live Disk, captured *history.DiskState,
	target state.State, opt Options,
) (*Plan, error) {
	now := captured.State
	p := &planner{
		store: store, live: &rememberingDisk{Disk: live}, captured: captured, now: now, target: target, scope: opt.Scope, keepNew: opt.KeepNew, way: opt.Way, step: opt.Step, merger: NewTextMerger(store),
		absence: NewAbsence(store, target, now),
		unread:  make(map[string]bool), blocked: make(map[string]bool), cleared: make(map[string]bool), instead: make(map[string]string),
		targetDirs: store.LookupDirs(target), removed: make(map[string]bool), unmade: make(map[string]bool),
	}
	p.absence.today = store.TreeRules(now, state.State{})
	if opt.Way != nil {
		p.absence.Known = opt.Way.Made
		p.atBase = state.NewCoverage(opt.Way.Base.Meta)
	}
	files, permissions := func() error { return p.files(ctx) }, func() error { return p.permissions(ctx) }
	for _, step := range []func() error{p.leftFiles, files, p.oversized, p.leftBehind, permissions, p.directories} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	p.Kept = slices.DeleteFunc(p.Kept, func(k state.PathReason) bool { return p.removed[string(k.Path)] })
	p.refuseUnsaveable()
	p.dropBlocked()
	p.withdrawDenied()
	p.withdrawStores()
	p.settle(append(Renames(opt.Step), opt.Pairs...))
	if opt.Way == nil {
		p.addLeftOut(uncapturedOf(target, opt.Scope))
	}
	p.addLeftOut(opt.LeftOut)
	p.Kept, p.Conflicts = append(distinct(p.Kept), opt.Kept...), append(distinct(p.Conflicts), opt.Conflicts...)
	if opt.Way != nil {
		p.Plan.Merged = p.merger.Merged
		if opt.Way.Policy == Fail && len(p.Conflicts) > 0 {
			return nil, p.Plan.refuse()
		}
	}
	return &p.Plan, nil
}

// distinct leaves out what stands before in the list: left directories are looked at before the files and after them.
func distinct(list []state.PathReason) []state.PathReason {
	seen := make(map[state.PathReason]bool, len(list))
	return slices.DeleteFunc(list, func(s state.PathReason) bool {
		again := seen[s]
		seen[s] = true
		return again
	})
}

func (p *planner) files(ctx context.Context) error {
	var created []history.TreeChange
	p.dirs = newDirSet(p.now.Tree == p.target.Tree)
	differing := &history.Comparison{Repo: p.store, Ctx: ctx, Scope: p.scope, Known: p.captured.Entries, Dirs: p.dirs.note}
	for c, err := range differing.Between(p.now.Tree, p.target.Tree) {
		if err != nil {
			return err
		}
		proceed, err := p.decide(c)
		if err != nil {
			return err
		}
		switch {
		case !proceed:
		case c.New == nil:
			err = p.remove(c.Path)
		case c.Old == nil:
			created = append(created, c) // after the removals, which may clear the way
		default:
			p.modify(c)
		}
		if err != nil {
			return err
		}
	}
	if p.way != nil {
		p.leftDirs() // a file may be created in place of a directory above them
	}
	for _, c := range created {
		if err := p.create(c); err != nil {
			return err
		}
	}
	return nil
}

// expect returns the state of a path as the capture recorded it. The stat of a racy entry
// proves nothing and is left out, so that the contents are compared.
func expect(rec index.Record) *dir.State {
	e := &dir.State{Mode: rec.Mode(), Perm: rec.Perm(), ID: rec.ID()}
	if !rec.Racy() {
		e.Stat = rec.Stat()
	}
	return e
}

func (p *planner) addChange(path string, action apply.Action, e *object.Entry, was *dir.State) {
	c := apply.Change{Path: path, Action: action, Was: was}
	if e != nil {
		c.Mode, c.ID = e.Mode, e.ID
		if e.Mode != object.Symlink {
			c.Perm = p.target.Meta.PermOf(path, e.Mode)
		}
	}
	p.Changes = append(p.Changes, c)
}

func (p *planner) modify(c history.TreeChange) {
	action := apply.Modify
	if c.Old.ID == c.New.ID && c.Old.Mode.IsFile() && c.New.Mode.IsFile() {
		action = apply.Chmod
	}
	p.addChange(c.Path, action, c.New, expect(p.captured.Index.Lookup(c.Path)))
}

// remove plans the deletion of a captured file that the target lacks. The file stays if the
// target may have had it.
func (p *planner) remove(path string) error {
	inTheWay, isNew, err := p.replaced(path)
	if err != nil {
		return err
	}
	if !inTheWay && p.keepNew {
		return nil
	}
	if p.way != nil && p.baseHasDir(path) {
		at, err := p.targetDirs.At(path)
		if err != nil || at.There {
			p.addKept(path, ReasonChangedSince) // only the bits of the directory differed
			return err
		}
	}
	if !isNew {
		if reason := p.absence.MayHaveExisted(path, false); reason != "" {
			p.addKeptTopmost(path, reason)
			return nil
		}
	}
	p.planDelete(path, expect(p.captured.Index.Lookup(path)))
	return nil
}

// planDelete plans the deletion of a file or symlink.
func (p *planner) planDelete(path string, was *dir.State) {
	p.cleared[path], p.removed[path] = true, true
	p.addChange(path, apply.Delete, nil, was)
}

// planDeleteUncaptured plans the deletion of an uncaptured file, which is saved first.
func (p *planner) planDeleteUncaptured(path string, was *dir.State) {
	p.Losses = append(p.Losses, path)
	p.planDelete(path, was)
}

// replaced reports whether the target has something else at the path or a file above it
// (inTheWay), and whether the target certainly lacked the path (isNew). The second also
// holds for a path in a directory that was empty.
func (p *planner) replaced(path string) (inTheWay, isNew bool, err error) {
	for at := path; at != ""; at, _ = index.Split(at) {
		e, err := p.store.EntryOrNil(p.target.Tree, at)
		if err != nil {
			return false, false, err
		}
		if e != nil {
			replaced := e.Mode != object.Dir || at == path
			return replaced, replaced, nil
		}
		if p.targetDirs.Empty[at] {
			return at == path, true, nil
		}
	}
	return false, false, nil
}

func (p *planner) addKept(path, reason string) {
	p.Kept = append(p.Kept, state.PathReason{Path: state.Path(path), Reason: reason})
}

// addKeptTopmost lists a path as kept. Below a directory that the capture of the target did
// not read, it lists the directory once instead.
func (p *planner) addKeptTopmost(path, reason string) {
	if at, why := p.absence.covered.Nearest(path); why == index.Unread.String() {
		if p.unread[at] {
			return
		}
		p.unread[at], path = true, at
	}
	p.addKept(path, reason)
}

func (p *planner) addConflict(path, reason string) {
	p.Conflicts = append(p.Conflicts, state.PathReason{Path: state.Path(path), Reason: reason})
}

// block lists a path as a conflict. dropBlocked withdraws the changes at and below it.
func (p *planner) block(path, reason string) {
	p.addConflict(path, reason)
	p.blocked[path] = true
}

func (p *planner) dropBlocked() {
	if len(p.blocked) == 0 {
		return
	}
	p.Changes = slices.DeleteFunc(p.Changes, func(c apply.Change) bool {
		for at := c.Path; at != ""; at, _ = index.Split(at) {
			if p.blocked[at] {
				return true
			}
		}
		return false
	})
}

// permissions plans the files that differ only in their permission bits.
func (p *planner) permissions(ctx context.Context) error {
	list, err := p.store.PermChanges(ctx, p.now, p.target, p.scope)
	if err != nil {
		return err
	}
	for _, c := range list {
		rec := p.captured.Index.Lookup(c.Path)
		old, new := history.OldEntry(&c), history.NewEntry(&c)
		if *old != *new || rec == nil {
			continue // planned with its contents
		}
		proceed, err := p.decide(history.TreeChange{Path: c.Path, Old: old, New: new})
		if err != nil {
			return err
		}
		if proceed {
			p.addChange(c.Path, apply.Chmod, new, expect(rec))
		}
	}
	return nil
}
