package cairn

import (
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/ignore"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// reasonDenied says why an operation leaves a path alone.
const reasonDenied = "on the list of what is never stored, so it cannot be saved first"

// compileNever compiles the deny list. Case is ignored, because a key is a key.
func compileNever(patterns []string) *ignore.Chain {
	if len(patterns) == 0 {
		return nil
	}
	return ignore.NewChain(ignore.Parse([]byte(strings.Join(patterns, "\n")+"\n"), true))
}

// neverID names the deny list: where it changes, it is applied to what was captured
// before, too.
func (r *Repo) neverID() string {
	if r.never == nil {
		return ""
	}
	return checksum(strings.Join(r.opt.Never, "\n"))
}

func (r *Repo) denied(path string) bool { return r.never != nil && r.never.Covers(path, false) }

// deny takes out of a plan what would have to be saved first and must not be, and what
// would bring back such a path where nobody has asked for exactly that one.
func (p *planner) deny() {
	if p.repo.never == nil {
		return
	}
	for _, path := range slices.Clone(p.losses) {
		if p.repo.denied(path) {
			p.losses = slices.DeleteFunc(p.losses, func(l string) bool { return l == path })
			p.spare(path)
		}
	}
	for _, c := range slices.Clone(p.changes) {
		if c.Mode != object.Dir && !c.ID.IsZero() && p.repo.denied(c.Path) && !p.scope.namesExactly(c.Path) {
			p.spare(c.Path)
		}
	}
}

// spare keeps a path and drops what was planned for it and below it.
func (p *planner) spare(path string) {
	p.keep(path, reasonDenied)
	p.plan.withdraw(path)
}

func (s *pathScope) namesExactly(path string) bool {
	if s == nil {
		return false
	}
	_, found := slices.BinarySearch(s.paths, path)
	return found
}
