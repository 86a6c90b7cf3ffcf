package plan

import (
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// ReasonDenied says why an operation leaves a path alone.
const ReasonDenied = "on the list of what is never stored, so it cannot be saved first"

// withdrawDenied withdraws the changes of paths on the deny list: those that would need saving
// first, and those that would bring a denied path back, unless the scope names exactly it.
func (p *planner) withdrawDenied() {
	p.withdrawSecrets()
	if p.store.NeverID() == "" {
		return
	}
	spared := make(map[string]bool)
	p.Losses = slices.DeleteFunc(p.Losses, func(path string) bool {
		if !p.store.Denied(path) {
			return false
		}
		spared[path] = true
		p.addKept(path, ReasonDenied)
		return true
	})
	p.withdraw(spared)
	clear(spared)
	for i := range p.Changes {
		c := &p.Changes[i]
		if c.Mode != object.Dir && !c.ID.IsZero() && p.store.Denied(c.Path) && !p.scope.NamesExactly(c.Path) {
			spared[c.Path] = true
			p.addKept(c.Path, ReasonDenied)
		}
	}
	p.withdraw(spared)
}

// reasonSecret says why an operation leaves a file alone.
const reasonSecret = "holds a secret and is not stored, so it cannot be saved first"

// withdrawSecrets withdraws the changes of files that the capture left out because of a credential.
func (p *planner) withdrawSecrets() {
	spared := make(map[string]bool)
	p.Losses = slices.DeleteFunc(p.Losses, func(path string) bool {
		rec := p.captured.Index.Lookup(path)
		if rec == nil || rec.Skip() != index.Secret {
			return false
		}
		spared[path] = true
		p.addKept(path, reasonSecret)
		return true
	})
	p.withdraw(spared)
}
