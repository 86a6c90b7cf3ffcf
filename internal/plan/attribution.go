package plan

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/state"
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

// Label names a step in reasons.
func Label(s *Step) string {
	if s.Operation != "" {
		return "operation " + s.Operation
	}
	if s.Note != "" {
		return "session " + s.Session + " (" + s.Note + ")"
	}
	return "session " + s.Session
}

// Attribution answers to whom a changed path belongs when steps of several sessions
// overlap: checkpoints see only that it changed, not who did it. A path that the
// tools of one session named belongs to that session. What nobody named, or both
// did, is shared.
type Attribution struct {
	Own    *state.PathScope
	Others []OtherStep
}

type OtherStep struct {
	Label    string
	Reverted bool
	Claims   *state.PathScope
	Changed  map[string]bool
}

// Attribute finds out what the other steps changed. Steps that do not overlap the
// one that is taken back should not be passed: they would make paths shared that
// are not.
func Attribute(ctx context.Context, r *history.Store, opt RevertOptions, stateOf func(ctx context.Context, spec string) (state.State, error)) (*Attribution, error) {
	a := &Attribution{Own: ClaimedScope(r, opt.Claims)}
	for _, step := range opt.Others {
		from, err := stateOf(ctx, step.From)
		if err != nil {
			return nil, err
		}
		to, err := stateOf(ctx, step.To)
		if err != nil {
			return nil, err
		}
		list, err := r.AllChanges(ctx, from, to, nil)
		if err != nil {
			return nil, err
		}
		other := OtherStep{Label: Label(&step), Reverted: step.Reverted, Claims: ClaimedScope(r, step.Claims), Changed: make(map[string]bool)}
		for i := range list {
			other.Changed[list[i].Path] = true
		}
		a.Others = append(a.Others, other)
	}
	return a, nil
}

// ClaimedScope is a scope that selects nothing where nothing is claimed. Tools also name
// paths outside the root; those are no concern here.
func ClaimedScope(r *history.Store, paths []string) *state.PathScope {
	rels := []string{}
	for _, path := range paths {
		if rel, err := r.Rel(path); err == nil {
			rels = append(rels, rel)
		}
	}
	return state.NewPathScope(rels)
}

// Stays returns why a path is not to be taken back, "" if it may be.
func (a *Attribution) Stays(path string) string {
	if a == nil {
		return ""
	}
	own, shared := a.Own.Covers(path), ""
	for i := range a.Others {
		other := &a.Others[i]
		theirs := other.Claims.Covers(path)
		switch {
		case !other.Changed[path] || !theirs && (own || other.Reverted):
		case theirs && !own:
			return reasonOthers + other.Label
		default:
			shared = reasonShared + other.Label
		}
	}
	return shared
}

// WithoutOthers splits the changes of a step into what may be taken back and what
// stays because of other sessions.
func (a *Attribution) WithoutOthers(step []history.Change) (own []history.Change, stay []state.PathReason) {
	own = slices.DeleteFunc(slices.Clone(step), func(c history.Change) bool {
		reason := a.Stays(c.Path)
		if reason != "" {
			stay = append(stay, state.PathReason{Path: c.Path, Reason: reason})
		}
		return reason != ""
	})
	return own, stay
}

// ByOwner tells what others claimed, which is kept, from what is shared, which is a
// conflict.
func ByOwner(stay []state.PathReason) (kept, conflicts []state.PathReason) {
	for _, s := range stay {
		if strings.HasPrefix(s.Reason, reasonOthers) {
			kept = append(kept, s)
		} else {
			conflicts = append(conflicts, s)
		}
	}
	return kept, conflicts
}
