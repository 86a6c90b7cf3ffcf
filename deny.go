package cairn

import (
	"errors"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/ignore"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// reasonDenied says why an operation leaves a path alone.
const reasonDenied = "on the list of what is never stored, so it cannot be saved first"

// compileNever compiles the deny list. Case is ignored, because a key is a key.
func compileNever(patterns []string) *ignore.Chain {
	return ignore.NewChain(ignore.Parse([]byte(strings.Join(patterns, "\n")+"\n"), true))
}

// denyList is what is never stored: Options.Never, and the paths that were purged.
type denyList struct {
	chain  *ignore.Chain // nil = nothing is denied
	id     string        // names it: where it changes, it is applied to what was captured before, too
	purged []string      // the paths
	text   string        // of the file that holds these
}

// refreshDenied has a Repo that stays open learn what was purged since, by itself or by
// others, and what was lifted. It is called before each capture.
func (r *Repo) refreshDenied() {
	last := r.never.Load()
	text, err := r.db.ReadPrivate(odb.PrivatePurged)
	if err != nil && !errors.Is(err, odb.ErrNotFound) {
		if last != nil {
			r.log.Warn("list of purged paths not read: it is taken for what it was", "error", err)
			return
		}
		r.log.Warn("list of purged paths not read: they may be captured again", "error", err)
	}
	if last != nil && last.text == string(text) {
		return
	}
	now := &denyList{purged: r.decodePurged(text), text: string(text)}
	if patterns := append(slices.Clip(r.opt.Never), neverPatterns(now.purged)...); len(patterns) > 0 {
		now.chain, now.id = compileNever(patterns), checksum(strings.Join(patterns, "\n"))
	}
	r.never.Store(now)
}

// neverID is the id of the deny list, "" for an empty one.
func (r *Repo) neverID() string { return r.never.Load().id }

func (r *Repo) denied(path string) bool {
	never := r.never.Load().chain
	return never != nil && never.Covers(path, false)
}

// deny takes out of a plan what would have to be saved first and must not be, and what
// would bring back such a path where nobody has asked for exactly that one.
func (p *planner) deny() {
	if p.repo.neverID() == "" {
		return
	}
	spared := make(map[string]bool)
	p.losses = slices.DeleteFunc(p.losses, func(path string) bool {
		if !p.repo.denied(path) {
			return false
		}
		spared[path] = true
		p.keep(path, reasonDenied)
		return true
	})
	p.withdraw(spared)
	clear(spared)
	for i := range p.changes {
		c := &p.changes[i]
		if c.Mode != object.Dir && !c.ID.IsZero() && p.repo.denied(c.Path) && !p.scope.namesExactly(c.Path) {
			spared[c.Path] = true
			p.keep(c.Path, reasonDenied)
		}
	}
	p.withdraw(spared)
}

func (s *pathScope) namesExactly(path string) bool {
	if s == nil {
		return false
	}
	_, found := slices.BinarySearch(s.paths, path)
	return found
}
