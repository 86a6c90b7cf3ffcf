package cairn

import (
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// merge adds another plan. Where both would do something to one path, the earlier
// plan has the say.
func (p *plan) merge(other *plan) {
	has := make(map[string]bool, len(p.changes))
	for i := range p.changes {
		has[p.changes[i].Path] = true
	}
	for _, c := range other.changes {
		if !has[c.Path] {
			p.changes = append(p.changes, c)
		}
	}
	p.losses = append(p.losses, other.losses...)
	p.kept = append(p.kept, other.kept...)
	p.conflicts = append(p.conflicts, other.conflicts...)
}

// touched lists the paths of a plan.
func (p *plan) touched() []string {
	paths := make([]string, len(p.changes))
	for i := range p.changes {
		paths[i] = p.changes[i].Path
	}
	return paths
}

// scopeAround is the scope of a scan that sees what a plan changed: the directories
// of its paths and, for paths that are directories, these.
func (p *plan) scopeAround() []string {
	touched := p.touched()
	paths := slices.Clone(touched)
	for _, path := range touched {
		paths = append(paths, index.Join(path, "."))
	}
	return paths
}
