package plan

import (
	"iter"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// A capture holds no directory that rules ignore. An operation may still change one: it
// makes, removes or chmods it on the way to its target. The states before and after an
// operation list such directories with their bits, because taking the operation back
// needs them.

// DirsBeside returns the permission bits of uncaptured directories at and above some paths.
// It leaves out directories that it cannot stat.
func DirsBeside(live LiveDisk, paths iter.Seq[string]) map[string]uint16 {
	dirs := make(map[string]uint16)
	asked := make(map[string]bool)
	for path := range paths {
		for at := path; at != "" && !asked[at]; at, _ = index.Split(at) {
			asked[at] = true
			if rec := live.Index.Lookup(at); rec != nil && rec.Skip() != index.Denied {
				continue
			}
			found, err := live.Find(at)
			if err == nil && found != nil && found.Path == at && found.Mode == object.Dir {
				dirs[at] = found.Perm
			}
		}
	}
	return dirs
}

// Beside yields the paths of a plan at or above which an uncaptured directory may change.
func (p *Plan) Beside(yield func(path string) bool) {
	for _, path := range p.Losses {
		if !yield(path) {
			return
		}
	}
	for i := range p.Changes {
		if IsDirectory(&p.Changes[i]) && !yield(p.Changes[i].Path) {
			return
		}
	}
}

// leftDir plans the permission bits of an uncaptured directory that the target has.
func (p *planner) leftDir(path string, now uint16) {
	want := p.target.Meta.PermOf(path, object.Dir)
	if want == now || !p.scope.Covers(path) || p.cleared[path] || p.captured.Index.Lookup(path) != nil || !p.decideDirBits(path, want, now) {
		return
	}
	p.Changes = append(p.Changes, apply.Change{
		Path: path, Action: apply.Chmod, Mode: object.Dir, Perm: want,
		Was: &dir.State{Mode: object.Dir, Perm: now},
	})
}

// leftEmpty lists the empty directories of Base that are still empty on the disk and that
// ignore rules keep out of the capture now. They stay, because the target may have had them.
func (p *planner) leftEmpty() {
	for _, path := range slices.Concat(p.way.Base.Meta.Empty, p.way.Base.Meta.Bare) {
		folder := string(path)
		if !p.scope.Covers(folder) || p.way.Made[folder] || p.cleared[folder] || p.targetHasDir(folder) || p.captured.Index.Lookup(folder) != nil {
			continue
		}
		names, err := p.live.Names(folder)
		if err != nil || len(names) > 0 {
			continue
		}
		if reason := p.absence.MayHaveExisted(folder, true); reason != "" {
			p.addKeptTopmost(folder, reason)
		}
	}
}
