package cairn

import (
	"context"
	"slices"
	"strings"
)

// Step is what one session, or one operation, did between two checkpoints.
type Step struct {
	Session   string   // name for messages; opaque
	Operation string   // instead of a session: the id of an operation
	From      string   // checkpoint before
	To        string   // checkpoint after
	Claims    []string // paths that the session's edit tools named, and everything below them

	// Reverted: it has been taken back, so that only what it claimed is still its own.
	Reverted bool

	Note string // for messages: what is to be known about the step
}

// Reasons that attribution has for a path to stay.
const (
	reasonOthers = "belongs to "
	reasonShared = "also changed during a step of "
)

// label names a step in reasons.
func (s *Step) label() string {
	if s.Operation != "" {
		return "operation " + s.Operation
	}
	if s.Note != "" {
		return "session " + s.Session + " (" + s.Note + ")"
	}
	return "session " + s.Session
}

// attribution answers to whom a changed path belongs when steps of several sessions
// overlap: checkpoints see only that it changed, not who did it. A path that the
// tools of one session named belongs to that session. What nobody named, or both
// did, is shared.
type attribution struct {
	own    *pathScope
	others []otherStep
}

type otherStep struct {
	label    string
	reverted bool
	claims   *pathScope
	changed  map[string]bool
}

// attribute finds out what the other steps changed. Steps that do not overlap the
// one that is taken back should not be passed: they would make paths shared that
// are not.
func attribute(ctx context.Context, r *Repo, opt RevertOptions, stateOf func(ctx context.Context, spec string) (state, error)) (*attribution, error) {
	a := &attribution{own: claimedScope(r, opt.Claims)}
	for _, step := range opt.Others {
		from, err := stateOf(ctx, step.From)
		if err != nil {
			return nil, err
		}
		to, err := stateOf(ctx, step.To)
		if err != nil {
			return nil, err
		}
		list, err := r.allChanges(ctx, from, to, nil)
		if err != nil {
			return nil, err
		}
		other := otherStep{label: step.label(), reverted: step.Reverted, claims: claimedScope(r, step.Claims), changed: make(map[string]bool)}
		for i := range list {
			other.changed[list[i].Path] = true
		}
		a.others = append(a.others, other)
	}
	return a, nil
}

// claimedScope is a scope that selects nothing where nothing is claimed. Tools also name
// paths outside the root; those are no concern here.
func claimedScope(r *Repo, paths []string) *pathScope {
	rels := []string{}
	for _, path := range paths {
		if rel, err := r.rel(path); err == nil {
			rels = append(rels, rel)
		}
	}
	return newPathScope(rels)
}

// stays returns why a path is not to be taken back, "" if it may be.
func (a *attribution) stays(path string) string {
	if a == nil {
		return ""
	}
	own, shared := a.own.covers(path), ""
	for i := range a.others {
		other := &a.others[i]
		theirs := other.claims.covers(path)
		switch {
		case !other.changed[path] || !theirs && (own || other.reverted):
		case theirs && !own:
			return reasonOthers + other.label
		default:
			shared = reasonShared + other.label
		}
	}
	return shared
}

// withoutOthers splits the changes of a step into what may be taken back and what
// stays because of other sessions.
func (a *attribution) withoutOthers(step []Change) (own []Change, stay []PathReason) {
	own = slices.DeleteFunc(slices.Clone(step), func(c Change) bool {
		reason := a.stays(c.Path)
		if reason != "" {
			stay = append(stay, PathReason{c.Path, reason})
		}
		return reason != ""
	})
	return own, stay
}

// byOwner tells what others claimed, which is kept, from what is shared, which is a
// conflict.
func byOwner(stay []PathReason) (kept, conflicts []PathReason) {
	for _, s := range stay {
		if strings.HasPrefix(s.Reason, reasonOthers) {
			kept = append(kept, s)
		} else {
			conflicts = append(conflicts, s)
		}
	}
	return kept, conflicts
}
