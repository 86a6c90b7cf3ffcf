package plan

import (
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
)

// reasonStore says why an operation leaves a path alone.
const reasonStore = "a cairn store, which going back never changes"

// withdrawStores withdraws the changes at and below cairn stores. A target may hold such
// files: it was captured before the directory became a store, or by another program.
func (p *planner) withdrawStores() {
	for _, s := range p.now.Meta.Skipped {
		path := string(s.Path)
		if s.Reason != index.Store.String() || !p.touches(path) {
			continue
		}
		p.addKept(path, reasonStore)
		p.withdraw(map[string]bool{path: true})
		p.Losses = slices.DeleteFunc(p.Losses, func(l string) bool { return isBelow(l, path) })
	}
}

// touches reports whether a plan changes a path or something below it.
func (p *planner) touches(path string) bool {
	return slices.ContainsFunc(p.Changes, func(c apply.Change) bool { return isBelow(c.Path, path) })
}

// isBelow reports whether a path is dir or lies below it.
func isBelow(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}
