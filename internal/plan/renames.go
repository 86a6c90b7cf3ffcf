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

// keepRenamesTogether makes both halves of a rename stay if one of them has to: a
// file that the step moved must not exist twice, or not at all, afterwards. A rename
// is a deletion and a creation of the same contents.
func (p *Planner) keepRenamesTogether(step []history.Change) {
	if len(p.Conflicts)+len(p.Kept) == 0 {
		return
	}
	stays := make(map[string]bool)
	for _, list := range [][]state.PathReason{p.Conflicts, p.Kept} {
		for _, c := range list {
			stays[c.Path] = true
		}
	}
	pairs := Renames(step)
	n := len(p.Changes)
	for p.dropHalves(pairs, stays) {
	}
	if len(p.Changes) < n {
		p.dropUnneeded()
	}
}

// dropUnneeded takes directories out of the plan that were to be made for paths that stay,
// where what is taken back did not remove them.
func (p *Planner) dropUnneeded() {
	for n := -1; n != len(p.Changes); {
		n = len(p.Changes)
		needed := make(map[string]bool)
		for i := range p.Changes {
			if !p.Changes[i].Action.Removes() {
				addParents(needed, p.Changes[i].Path)
			}
		}
		p.Changes = slices.DeleteFunc(p.Changes, func(c apply.Change) bool {
			return c.Action == apply.Mkdir && !needed[c.Path] && p.baseHasDir(c.Path)
		})
	}
}

// dropHalves makes the other halves of renames stay, and what would be made below one that
// stands in its way then. It reports whether there were any.
func (p *Planner) dropHalves(pairs [][2]string, stays map[string]bool) bool {
	planned, dropped := make(map[string]bool), make(map[string]bool)
	for i := range p.Changes {
		planned[p.Changes[i].Path] = true
	}
	for _, pair := range pairs {
		for i, half := range pair {
			if other := pair[1-i]; stays[other] && !stays[half] && planned[half] {
				dropped[half], stays[half] = true, true
				p.conflict(half, ReasonOtherHalf+other)
			}
		}
	}
	if len(dropped) == 0 {
		return false
	}
	p.Changes = slices.DeleteFunc(p.Changes, func(c apply.Change) bool {
		if dropped[c.Path] {
			return true
		}
		if c.Action.Removes() {
			return false
		}
		for at, _ := index.Split(c.Path); at != ""; at, _ = index.Split(at) {
			if dropped[at] {
				stays[c.Path] = true
				p.conflict(c.Path, ReasonInTheWayOf+at)
				return true
			}
		}
		return false
	})
	return true
}

// Renames pairs the deletions of a step with its creations of equal contents: those whose
// names differ in case only, and the others in the order of their paths.
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

// foldName is equal for the paths that strings.EqualFold takes for equal.
func foldName(path string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for at := unicode.SimpleFold(r); at != r; at = unicode.SimpleFold(at) {
			least = min(least, at)
		}
		return least
	}, path)
}
