package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/scan"
)

// Policy says what becomes of a path that was changed since the state that is being
// taken back.
type Policy string

// The policies. With each, what is overwritten is saved first.
const (
	Merge     Policy = "merge"     // merge line by line; where that is not clean, the path stays as it is: a conflict
	Overwrite Policy = "overwrite" // the later change goes
	Keep      Policy = "keep"      // the path stays as it is
	Fail      Policy = "fail"      // nothing is done at all
)

// ParsePolicy reads the name of a policy.
func ParsePolicy(name string) (Policy, error) {
	if p := Policy(name); slices.Contains([]Policy{Merge, Overwrite, Keep, Fail}, p) {
		return p, nil
	}
	return "", fmt.Errorf("unknown policy %q (want merge, overwrite, keep or fail)", name)
}

// Reasons that a later change has for staying.
const (
	ReasonChangedSince   = "changed since"
	reasonOverlap        = "changed since, and the changes overlap"
	ReasonNotText        = "changed since, and not a text that could be merged"
	ReasonGoneSince      = "deleted since"
	ReasonMadeSince      = "made since by somebody else"
	ReasonOtherHalf      = "the other half of a rename stays: "
	reasonNotCapturedNow = "changed since, and not captured (ignored, or too large)"
	reasonTooLargeMerge  = "changed since, and too large to merge"
)

// ThreeWay is the state that a revert takes back: what the step, session or
// operation left behind. A path that is still as it was there goes back without
// asking; for the others the policy decides.
type ThreeWay struct {
	Base   state.State
	Policy Policy
	Made   map[string]bool      // known to have been made by what is taken back
	Merged map[object.ID][]byte // contents that the plan needs and no store has yet
}

// ChangedBetween selects what differs between two states, directories included: all
// that taking back the difference may touch. What was made later in a directory, or below
// the name of a file that goes, is no part of the difference. What was made below the name
// of a file that comes back stands in its way.
func ChangedBetween(r *history.Store, target, base state.State, within *state.PathScope, step []history.Change) (*state.PathScope, error) {
	var paths, alone []string
	for i := range step {
		if step[i].Status == history.Added {
			alone = append(alone, step[i].Path)
		} else {
			paths = append(paths, step[i].Path)
		}
	}
	then, later := state.NewCoverage(target.Meta), state.NewCoverage(base.Meta)
	dirs, err := r.ChangedDirs(target, base)
	for path := range dirs {
		if within.Covers(path) && !then.Unread(path) && !later.Unread(path) {
			alone = append(alone, path)
		}
	}
	return state.NewPathScope(paths).WithAlone(alone), err
}

// present is what stands at a path on disk, captured or not.
type present struct {
	entry *object.Entry // nil: nothing, or nothing that could be compared
	perm  uint16
}

// onDisk finds what stands at a path. What no capture holds has to be read.
func (p *Planner) onDisk(path string, captured *object.Entry) (present, error) {
	if captured != nil {
		return present{captured, p.now.Meta.PermOf(path, captured.Mode)}, nil
	}
	found, err := dir.Find(p.Repo.Root, path, p.disk.Index.Has)
	if err != nil || found == nil || found.Path != path || found.Mode == 0 || found.Mode == object.Dir {
		return present{}, err
	}
	was, err := scan.Identify(p.Repo.Root, path)
	if err != nil {
		return present{}, err
	}
	return present{&object.Entry{Mode: was.Mode, ID: was.ID}, was.Perm}, nil
}

// baseEntry is the file that base has at a path, nil for none.
func (p *Planner) baseEntry(path string) (*object.Entry, error) {
	e, err := p.Repo.EntryOrNil(p.Way.Base.Tree, path)
	if e != nil && e.Mode == object.Dir {
		e = nil
	}
	return e, err
}

// later reports whether what stands on disk is not what base has.
func (p *Planner) later(path string, base *object.Entry, disk present) bool {
	switch {
	case base == nil || disk.entry == nil:
		return base != disk.entry
	case base.Mode != disk.entry.Mode || base.ID != disk.entry.ID:
		return true
	}
	return base.Mode != object.Symlink && p.Way.Base.Meta.PermOf(path, base.Mode) != disk.perm
}

// settle decides about a path that differs from the target. It reports whether the
// plan may bring the path to the target; if not, it has planned or noted what
// happens instead.
func (p *Planner) settle(c history.TreeChange) (proceed bool, err error) {
	if p.Way != nil && p.atBase.Unread(c.Path) {
		return false, nil
	}
	if p.Way == nil || p.Way.Policy == Overwrite {
		return true, nil
	}
	disk, err := p.onDisk(c.Path, c.Old)
	if err != nil {
		p.conflict(c.Path, reasonUnreadable)
		return false, nil
	}
	if p.asTarget(c, disk) {
		return false, nil
	}
	base, err := p.baseEntry(c.Path)
	if err != nil || !p.later(c.Path, base, disk) {
		return err == nil, err
	}
	switch p.Way.Policy {
	case Keep:
		p.keep(c.Path, ReasonChangedSince)
	case Fail:
		p.conflict(c.Path, ReasonChangedSince)
	default:
		return false, p.merge(c, base, disk)
	}
	return false, nil
}

// merge plans the three-way merge of a path, or notes the conflict.
func (p *Planner) merge(c history.TreeChange, base *object.Entry, disk present) error {
	switch {
	case disk.entry == nil:
		p.conflict(c.Path, ReasonGoneSince)
		return nil
	case base == nil:
		p.conflict(c.Path, ReasonMadeSince)
		return nil
	case c.New == nil:
		p.conflict(c.Path, ReasonChangedSince)
		return nil
	case c.Old == nil:
		p.conflict(c.Path, reasonNotCapturedNow)
		return nil
	case !c.Old.Mode.IsFile() || !c.New.Mode.IsFile() || !base.Mode.IsFile():
		p.conflict(c.Path, ReasonNotText)
		return nil
	}
	want, reason, err := p.MergeContents(base, c.Old, c.New)
	if err != nil {
		return err
	}
	if reason != "" {
		p.conflict(c.Path, reason)
		return nil
	}
	p.planMerged(c, base, want)
	return nil
}

// MergeContents merges three blobs. Where two of them agree nothing has to be read.
func (p *Planner) MergeContents(base, ours, theirs *object.Entry) (id object.ID, reason string, err error) {
	switch base.ID {
	case ours.ID:
		return theirs.ID, "", nil
	case theirs.ID:
		return ours.ID, "", nil
	}
	var text [3][]byte
	for i, e := range []*object.Entry{base, ours, theirs} {
		var tooLarge bool
		if text[i], tooLarge, err = p.mergeable(e); err != nil {
			return id, "", err
		}
		if tooLarge {
			return id, reasonTooLargeMerge, nil
		}
		if linediff.Binary(text[i]) {
			return id, ReasonNotText, nil
		}
	}
	res := linediff.Merge(text[0], text[1], text[2])
	if res.Conflicts > 0 {
		return id, reasonOverlap, nil
	}
	id = object.Sum(object.Blob, res.Content)
	p.Way.Merged[id] = res.Content
	return id, "", nil
}

// mergeable reads a blob, be it one that is merged already and in no store yet.
func (p *Planner) mergeable(e *object.Entry) (text []byte, tooLarge bool, err error) {
	if text, ok := p.Way.Merged[e.ID]; ok {
		return text, false, nil
	}
	size, err := p.Repo.BlobSize(e)
	if err != nil || size > history.DefaultMaxDiffSize {
		return nil, true, err
	}
	text, err = p.Repo.Blob(e)
	return text, false, err
}

// planMerged plans the merged contents with merged permission bits: who changed
// them last keeps them.
func (p *Planner) planMerged(c history.TreeChange, base *object.Entry, want object.ID) {
	ours := p.now.Meta.PermOf(c.Path, c.Old.Mode)
	perm, mode := ours, c.Old.Mode
	if ours == p.Way.Base.Meta.PermOf(c.Path, base.Mode) {
		perm, mode = p.target.Meta.PermOf(c.Path, c.New.Mode), c.New.Mode
	}
	if want == c.Old.ID && perm == ours {
		return
	}
	action := apply.Modify
	if want == c.Old.ID {
		action = apply.Chmod
	}
	p.Changes = append(p.Changes, apply.Change{
		Path: c.Path, Action: action, Mode: mode, Perm: perm, ID: want, Was: expect(p.disk.Index.Lookup(c.Path)),
	})
}

// refuse is the error of the policy Fail.
func (p *Plan) refuse() error {
	var names []string
	for _, c := range p.Conflicts {
		names = append(names, c.Path)
	}
	return fmt.Errorf("%w: changed since, so nothing was done: %s", state.ErrConflict, strings.Join(names, ", "))
}
