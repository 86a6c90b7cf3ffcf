package plan

import (
	"slices"
	"strings"
	"unicode"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
)

// withdrawHalfRenames withdraws the other half of a rename if one half stays. Otherwise the
// moved file would exist twice or not at all.
func (p *planner) withdrawHalfRenames(pairs [][2]string) {
	stays := append(pathsOf(p.Conflicts), pathsOf(p.Kept)...)
	if len(stays) == 0 {
		return
	}
	n := len(p.Changes)
	for {
		planned := make(map[string]bool)
		for i := range p.Changes {
			planned[p.Changes[i].Path] = true
		}
		halves := OtherHalves(pairs, stays, func(path string) bool { return planned[path] })
		if len(halves) == 0 {
			break
		}
		p.Conflicts = append(p.Conflicts, halves...)
		stays = append(append(stays, pathsOf(halves)...), p.dropHalves(pathsOf(halves))...)
	}
	if len(p.Changes) < n {
		p.dropUnneededDirs()
	}
}

// dropUnneededDirs withdraws the making of directories that no planned path needs any more.
// A directory that the target has without files is still made, if the reverted step removed it.
func (p *planner) dropUnneededDirs() {
	for n := -1; n != len(p.Changes); {
		n = len(p.Changes)
		needed := make(map[string]bool)
		for i := range p.Changes {
			if !p.Changes[i].Action.Removes() {
				addParents(needed, p.Changes[i].Path)
			}
		}
		p.Changes = slices.DeleteFunc(p.Changes, func(c apply.Change) bool {
			return c.Action == apply.Mkdir && !needed[c.Path] && (p.baseHasDir(c.Path) || !p.targetDirs.Lists(c.Path))
		})
	}
}

// dropHalves withdraws the changes of halves of renames. It also withdraws what is made below
// a half that now stays, and returns those paths.
func (p *planner) dropHalves(halves []string) (below []string) {
	dropped := make(map[string]bool)
	for _, path := range halves {
		dropped[path] = true
	}
	p.Changes = slices.DeleteFunc(p.Changes, func(c apply.Change) bool {
		if dropped[c.Path] {
			p.noteUnmade(c)
			return true
		}
		if c.Action.Removes() {
			return false
		}
		for at, _ := index.Split(c.Path); at != ""; at, _ = index.Split(at) {
			if dropped[at] {
				below = append(below, c.Path)
				p.addConflict(c.Path, ReasonInTheWayOf+at)
				return true
			}
		}
		return false
	})
	return below
}

// OtherHalves returns the planned paths that have to stay because the other half of their
// rename stays, each with its reason. A path may be in several pairs; the result is closed
// over all pairs. A path that is not planned only leads on: of a file that one step moved from
// a to b and another from b to c, b is as wanted already, and a must not come back beside c.
func OtherHalves(pairs [][2]string, stays []string, planned func(path string) bool) (halves []state.PathReason) {
	others := make(map[string][]string)
	for _, pair := range pairs {
		others[pair[0]] = append(others[pair[0]], pair[1])
		others[pair[1]] = append(others[pair[1]], pair[0])
	}
	because := make(map[string]string) // the nearest path that stays
	for _, path := range stays {
		because[path] = path
	}
	for queue := slices.Clone(stays); len(queue) > 0; queue = queue[1:] {
		for _, half := range others[queue[0]] {
			if _, known := because[half]; known {
				continue
			}
			because[half] = because[queue[0]]
			queue = append(queue, half)
			if planned(half) {
				halves = append(halves, state.PathReason{Path: state.Path(half), Reason: ReasonOtherHalf + because[half]})
				because[half] = half
			}
		}
	}
	return halves
}

func pathsOf(list []state.PathReason) []string {
	paths := make([]string, len(list))
	for i := range list {
		paths[i] = string(list[i].Path)
	}
	return paths
}

// Renames pairs deletions of a step with creations of equal contents. Names that differ only
// in case are paired first, the rest in the order of the paths.
func Renames(step []history.Change) (pairs [][2]string) {
	paired := make(map[string]bool)
	for _, name := range []func(path string) string{foldName, func(string) string { return "" }} {
		type key struct{ id, name string }
		made := make(map[key][]string)
		for i := range step {
			if c := &step[i]; c.Status == history.Added && !paired[c.Path] {
				k := key{c.NewID, name(c.Path)}
				made[k] = append(made[k], c.Path)
			}
		}
		for i := range step {
			c := &step[i]
			if c.Status != history.Deleted || paired[c.Path] {
				continue
			}
			k := key{c.OldID, name(c.Path)}
			if to := made[k]; len(to) > 0 {
				pairs, made[k] = append(pairs, [2]string{c.Path, to[0]}), to[1:]
				paired[c.Path], paired[to[0]] = true, true
			}
		}
	}
	return pairs
}

// foldName maps two paths to one string if and only if strings.EqualFold equates them.
func foldName(path string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for at := unicode.SimpleFold(r); at != r; at = unicode.SimpleFold(at) {
			least = min(least, at)
		}
		return least
	}, path)
}
