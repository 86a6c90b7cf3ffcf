package gitrestore

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// NestedPlan is the plan of a repository in the work tree, or of a submodule.
type NestedPlan struct {
	Place string // path from the root
	*Plan
}

// planNested plans each nested repository by itself. Its conflicts, and the reason why it cannot go
// back, are conflicts of the whole plan.
func (p *Plan) planNested(ways []Way, now *gitstate.Record, parts Parts, keep bool) {
	for _, place := range nestedPlaces(ways) {
		is := nestedIn(now, place)
		o := from(is, parts)
		o.keep = keep
		var taken []Way
		for _, w := range ways {
			if sub, ok := nestedWay(w, place, is); ok {
				o.revertWay(sub)
				taken = append(taken, sub)
			}
		}
		p.addNested(place, o.plan(is, taken))
	}
}

func (p *Plan) addNested(place string, sub *Plan) {
	for _, c := range sub.Conflicts {
		p.Conflicts = append(p.Conflicts, Conflict{place + ":" + c.Ref, c.Reason})
	}
	switch reason := sub.refusedAt(); {
	case reason != "":
		p.Conflicts = append(p.Conflicts, Conflict{place + ":.git", reason})
	case !sub.None():
		p.Nested = append(p.Nested, NestedPlan{place, sub})
	}
}

// refusedAt says why a nested repository cannot go back.
func (p *Plan) refusedAt() string {
	if p.Refused != "" || !p.Rebuild {
		return p.Refused
	}
	dir := filepath.Dir(p.target.GitDir)
	if _, err := os.Lstat(dir); err != nil && filepath.Base(p.target.GitDir) == ".git" { // not that of a submodule
		return "its directory is gone; bring back the files first"
	}
	if _, err := os.Lstat(p.target.GitDir); err == nil {
		return "its work tree does not name it any more"
	}
	return ""
}

// nestedPlaces lists the places of the repositories that some ways know.
func nestedPlaces(ways []Way) []string {
	places := make(map[string]bool)
	for _, w := range ways {
		for _, r := range []*gitstate.Record{w.Before, w.After} {
			if r != nil {
				for place := range r.Nested {
					places[place] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(places))
}

func nestedIn(r *gitstate.Record, place string) *gitstate.Record {
	if r == nil {
		return nil
	}
	return r.Nested[place]
}

// nestedWay is the part of a way that concerns one nested repository. Where the repository around was
// gone, its record tells nothing of the nested ones: one that is gone, too, counts as removed.
func nestedWay(w Way, place string, now *gitstate.Record) (sub Way, ok bool) {
	sub = Way{Before: nestedIn(w.Before, place), After: nestedIn(w.After, place)}
	for _, o := range w.Others {
		sub.Others = append(sub.Others, Way{Before: nestedIn(o.Before, place), After: nestedIn(o.After, place)})
	}
	if w.Before == nil {
		return sub, false
	}
	if w.After == nil && sub.Before != nil {
		_, err := os.Lstat(sub.Before.GitDir)
		return sub, now == nil && err != nil
	}
	return sub, true
}

// nestedChanges describes the plans of nested repositories.
func (p *Plan) nestedChanges() (list []string) {
	for _, n := range p.Nested {
		for _, text := range n.Changes() {
			list = append(list, "in "+pathtext.Quote(n.Place)+" "+text)
		}
	}
	return list
}

// applyNested carries out the plans of nested repositories, after that of the repository around.
func (a *Applier) applyNested(ctx context.Context, p *Plan) (failures []Conflict) {
	for _, n := range p.Nested {
		failed, err := a.applyOne(ctx, n.Plan)
		for _, f := range failed {
			failures = append(failures, Conflict{n.Place + ":" + f.Ref, f.Reason})
		}
		if err != nil {
			failures = append(failures, Conflict{n.Place + ":.git", err.Error()})
		}
	}
	return failures
}
