package cairn

import (
	"context"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/scan"
)

// plan is what a restore or revert is going to do, path by path.
type plan struct {
	changes   []apply.Change
	losses    []string             // paths whose present contents no capture holds: to be saved first
	merged    map[object.ID][]byte // contents to be written that are in no store yet
	kept      []PathReason
	conflicts []PathReason
}

// snapshot is the disk as a capture found it.
type snapshot struct {
	state
	index   *index.Index
	entries func(dir string, tree object.ID) []object.Entry // of a tree that the capture knows, else nil
}

// planner compares the disk with a target. Nothing on disk is touched.
type planner struct {
	plan
	repo    *Repo
	ctx     context.Context
	disk    *snapshot
	now     state
	target  state
	scope   *pathScope
	keepNew bool
	way     *threeWay // nil: later changes do not count
	step    []Change  // see planOptions

	atBase      coverage        // the same of what is taken back
	covered     coverage        // what the target did not capture although it was there
	then, today *treeRules      // the ignore rules of both ends
	dirs        *dirSet         // found with the files
	unread      map[string]bool // directories reported by keepTopmost
	blocked     map[string]bool
	targetDirs  *dirLookup
	removed     map[string]bool   // captured paths that go whatever was decided before
	baseDirs    map[string]bool   // see isLaterDir
	cleared     map[string]bool   // paths in the way that the plan already removes
	instead     map[string]string // of those: what is made there, see Change.As
}

// reasons that paths are left alone for.
const (
	reasonIgnoredThen  = "ignored at the target, so it may have existed"
	reasonIgnoredToday = "ignored now, so the target may have had it"
	reasonRulesThen    = "below ignore rules that are not known of the target, so it may have existed"
	reasonRulesToday   = "below ignore rules that cannot be read now, so the target may have had it"
	reasonNotCaptured  = "present but not captured at the target: "
	reasonUnreadable   = "unreadable, so it cannot be saved first"
	reasonSpecial      = "a special file, which cannot be saved first"
	reasonInTheWay     = "something that is not captured stands in the way: "
)

// planOptions narrows a plan.
type planOptions struct {
	scope   *pathScope // nil = everything
	keepNew bool       // remove nothing but what stands in the way
	way     *threeWay  // what is taken back; nil = everything goes to the target
	step    []Change   // of what is taken back, for its renames

	// stay lists what is not taken back because of other sessions. What they claimed
	// is kept, what is shared is a conflict.
	stay []PathReason

	leftOut []leftOut // what is not taken back for want of a capture

	// kept and conflicts were found before there was a plan.
	kept, conflicts []PathReason
}

// makePlan works out how to bring what scope selects from the disk's state to the
// target's:
//
//  1. files that differ in contents, kind or exec bit
//  2. files that the disk has but no capture holds, and the target did not have
//  3. permission bits
//  4. directories: the target's empty ones, and those that it did not have
func makePlan(ctx context.Context, r *Repo, disk *snapshot, target state, opt planOptions) (*plan, error) {
	now := disk.state
	p := &planner{
		repo: r, ctx: ctx, disk: disk, now: now, target: target, scope: opt.scope, keepNew: opt.keepNew, way: opt.way, step: opt.step,
		covered: newCoverage(target.meta), then: r.treeRules(target, now), today: r.treeRules(now, state{}),
		unread: make(map[string]bool), blocked: make(map[string]bool), cleared: make(map[string]bool), instead: make(map[string]string),
		targetDirs: r.lookupDirs(target), removed: make(map[string]bool),
	}
	if opt.way != nil {
		p.atBase = newCoverage(opt.way.base.meta)
	}
	for _, step := range []func() error{p.files, p.oversized, p.leftBehind, p.permissions, p.directories} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	p.kept = slices.DeleteFunc(p.kept, func(k PathReason) bool { return p.removed[k.Path] })
	p.refuseUnsaveable()
	p.dropBlocked()
	p.deny()
	p.spareStores()
	kept, conflicts := byOwner(opt.stay)
	p.kept, p.conflicts = append(p.kept, kept...), append(p.conflicts, conflicts...)
	p.keepRenamesTogether(opt.step)
	p.keepSpellingsTogether()
	p.spareStanding()
	p.keepLeftOut(opt.leftOut)
	p.kept, p.conflicts = append(p.kept, opt.kept...), append(p.conflicts, opt.conflicts...)
	if opt.way != nil {
		p.plan.merged = opt.way.merged
		if opt.way.policy == Fail && len(p.conflicts) > 0 {
			return nil, p.plan.refuse()
		}
	}
	return &p.plan, nil
}

func (p *planner) files() error {
	var created []treeChange
	p.dirs = newDirSet(p.now.tree == p.target.tree)
	differing := &comparison{repo: p.repo, ctx: p.ctx, scope: p.scope, known: p.disk.entries, dirs: p.dirs.note}
	for c, err := range differing.between(p.now.tree, p.target.tree) {
		if err != nil {
			return err
		}
		proceed, err := p.settle(c)
		if err != nil {
			return err
		}
		switch {
		case !proceed:
		case c.new == nil:
			err = p.remove(c.path)
		case c.old == nil:
			created = append(created, c) // after the removals, which may clear the way
		default:
			p.modify(c)
		}
		if err != nil {
			return err
		}
	}
	for _, c := range created {
		if err := p.create(c); err != nil {
			return err
		}
	}
	return nil
}

// expect is what the last capture saw at a path that it holds. A racy stat proves
// nothing, so only the contents count.
func expect(rec index.Record) *dir.State {
	e := &dir.State{Mode: rec.Mode(), Perm: rec.Perm(), ID: rec.ID()}
	if !rec.Racy() {
		e.Stat = rec.Stat()
	}
	return e
}

func (p *planner) change(path string, action apply.Action, e *object.Entry, was *dir.State) {
	c := apply.Change{Path: path, Action: action, Was: was}
	if e != nil {
		c.Mode, c.ID = e.Mode, e.ID
		if e.Mode != object.Symlink {
			c.Perm = p.target.meta.perm(path, e.Mode)
		}
	}
	p.changes = append(p.changes, c)
}

func (p *planner) modify(c treeChange) {
	action := apply.Modify
	if c.old.ID == c.new.ID && c.old.Mode.IsFile() && c.new.Mode.IsFile() {
		action = apply.Chmod
	}
	p.change(c.path, action, c.new, expect(p.disk.index.Lookup(c.path)))
}

// remove plans the removal of a captured file that the target does not have, if the
// target is known not to have had it.
func (p *planner) remove(path string) error {
	inTheWay, isNew, err := p.replaced(path)
	if err != nil {
		return err
	}
	if !inTheWay && p.keepNew {
		return nil
	}
	if p.way != nil && p.baseHasDir(path) {
		at, err := p.targetDirs.at(path)
		if err != nil || at.there {
			p.keep(path, reasonChangedSince) // only the bits of the directory differed
			return err
		}
	}
	if !isNew {
		if reason := p.mayHaveExisted(path, false); reason != "" {
			p.keepTopmost(path, reason)
			return nil
		}
	}
	p.takeAway(path, expect(p.disk.index.Lookup(path)))
	return nil
}

// takeAway plans the removal of a file or symlink.
func (p *planner) takeAway(path string, was *dir.State) {
	p.cleared[path], p.removed[path] = true, true
	p.change(path, apply.Delete, nil, was)
}

// takeUncaptured is takeAway for what no capture holds.
func (p *planner) takeUncaptured(path string, was *dir.State) {
	p.losses = append(p.losses, path)
	p.takeAway(path, was)
}

// replaced reports whether the target has something else at the path or above it, and
// whether the target is known not to have had this file: it may also lie in a directory
// that was empty.
func (p *planner) replaced(path string) (inTheWay, isNew bool, err error) {
	for at := path; at != ""; at, _ = index.Split(at) {
		e, err := p.repo.entryOrNil(p.target.tree, at)
		if err != nil {
			return false, false, err
		}
		if e != nil {
			replaced := e.Mode != object.Dir || at == path
			return replaced, replaced, nil
		}
		if p.targetDirs.empty[at] {
			return at == path, true, nil
		}
	}
	return false, false, nil
}

// mayHaveExisted returns why the target may have had a path that its tree lacks.
func (p *planner) mayHaveExisted(path string, dir bool) string {
	if p.way != nil && p.way.made[path] {
		return ""
	}
	if reason := p.covered.uncaptured(path); reason != "" {
		return reasonNotCaptured + reason
	}
	if reason := p.then.mayHaveIgnored(path, dir, reasonIgnoredThen, reasonRulesThen); reason != "" {
		return reason
	}
	return p.today.mayHaveIgnored(path, dir, reasonIgnoredToday, reasonRulesToday)
}

func (p *planner) keep(path, reason string) {
	p.kept = append(p.kept, PathReason{path, reason})
}

// keepTopmost keeps a path, but reports only the directory if the target did not look
// into that at all.
func (p *planner) keepTopmost(path, reason string) {
	if at, why := p.covered.nearest(path); why == index.Unread.String() {
		if p.unread[at] {
			return
		}
		p.unread[at], path = true, at
	}
	p.keep(path, reason)
}

// create plans a file that no capture of the disk holds. Something may stand there
// all the same: ignored, too large, or in place of one of its directories.
func (p *planner) create(c treeChange) error {
	found, taken, err := p.lookFor(c.path)
	switch {
	case err != nil:
		p.conflict(c.path, err.Error())
	case taken != "":
		p.block(c.path, reasonSameName+taken)
	case found == nil || p.cleared[found.Path]:
		p.change(c.path, apply.Create, c.new, nil)
	case found.Mode == object.Dir:
		p.replaceDir(c, found)
	case found.Mode == 0:
		p.block(c.path, reasonSpecial)
	case found.Path == c.path:
		p.replaceUncaptured(c, found)
	case p.isCaptured(found.Path) && p.instead[found.Path] == c.path:
		p.createOver(c, found.Path)
	case p.standsSince(found.Path):
		p.block(c.path, reasonInTheWayOf+found.Path)
	default: // a file where a directory has to be, or of another spelling
		p.takeUncaptured(found.Path, found.State(object.ID{}))
		p.change(c.path, apply.Create, c.new, nil)
	}
	return nil
}

// replaceUncaptured plans a file where one stands that no capture holds. A file with the
// contents of the target's stays and gets at most its bits.
func (p *planner) replaceUncaptured(c treeChange, found *dir.Found) {
	action, was := apply.Modify, found.State(object.ID{})
	size, err := p.repo.blobSize(c.new)
	if found.Mode.IsFile() == c.new.Mode.IsFile() && err == nil && (found.Stat.Size == size || !found.Mode.IsFile()) {
		if at, err := scan.Identify(p.repo.root, c.path); err == nil && at.ID == c.new.ID {
			if p.asTarget(c, present{&object.Entry{Mode: at.Mode, ID: at.ID}, at.Perm}) {
				return
			}
			action, was = apply.Chmod, at
		}
	}
	p.losses = append(p.losses, c.path)
	p.change(c.path, action, c.new, was)
}

// asTarget reports whether a file on disk is as the target has it.
func (p *planner) asTarget(c treeChange, disk present) bool {
	if c.new == nil || disk.entry == nil || disk.entry.Mode != c.new.Mode || disk.entry.ID != c.new.ID {
		return false
	}
	return c.new.Mode == object.Symlink || disk.perm == p.target.meta.perm(c.path, c.new.Mode)
}

// replaceDir plans a file where a directory stands: possible only if all that is
// in it is captured, and thus going.
func (p *planner) replaceDir(c treeChange, found *dir.Found) {
	if inside := scan.Uncaptured(p.repo.root, found.Path, p.disk.index); inside != "" {
		p.block(c.path, reasonInTheWay+inside)
		return
	}
	if p.changedDir(found.Path, found.Perm) {
		p.block(c.path, reasonInTheWayOf+found.Path)
		return
	}
	p.change(c.path, apply.Create, c.new, nil)
	p.removeDirs(found.Path)
}

// removeDirs plans the removal of a directory with all below it, which is captured. Later
// work that has to stay is not in the plan, and the directory will not be empty.
func (p *planner) removeDirs(path string) {
	if rec := p.disk.index.Lookup(path); p.cleared[path] || rec != nil && p.changedDir(path, rec.Perm()) {
		return
	}
	p.cleared[path] = true
	d := p.disk.index.Dirs[path]
	if d != nil {
		for rec := range d.All {
			switch at := index.Join(path, string(rec.Name())); {
			case rec.Mode() == object.Dir:
				p.removeDirs(at)
			case p.way == nil && !p.cleared[at]: // another spelling of the path does not tell that it goes
				p.removeCaptured(at)
			}
		}
	}
	p.change(path, apply.Rmdir, nil, nil)
}

func (p *planner) conflict(path, reason string) {
	p.conflicts = append(p.conflicts, PathReason{path, reason})
}

// block gives up on a path and on everything that the plan would remove below it.
func (p *planner) block(path, reason string) {
	p.conflict(path, reason)
	p.blocked[path] = true
}

func (p *planner) dropBlocked() {
	if len(p.blocked) == 0 {
		return
	}
	p.changes = slices.DeleteFunc(p.changes, func(c apply.Change) bool {
		for at := c.Path; at != ""; at, _ = index.Split(at) {
			if p.blocked[at] {
				return true
			}
		}
		return false
	})
}

// permissions plans the files whose contents agree and whose permission bits do not.
func (p *planner) permissions() error {
	list, err := p.repo.permChanges(p.ctx, p.now, p.target, p.scope)
	if err != nil {
		return err
	}
	for _, c := range list {
		rec := p.disk.index.Lookup(c.Path)
		old, new := c.oldEntry(), c.newEntry()
		if *old != *new || rec == nil {
			continue // planned with its contents
		}
		proceed, err := p.settle(treeChange{c.Path, old, new})
		if err != nil {
			return err
		}
		if proceed {
			p.change(c.Path, apply.Chmod, new, expect(rec))
		}
	}
	return nil
}
