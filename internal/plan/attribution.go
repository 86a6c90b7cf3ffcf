package plan

import (
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

	// Reverted: the step has been taken back. Only its claimed paths still belong to it.
	Reverted bool

	Note string // description of the step for messages
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

// Attribution assigns changed paths to sessions whose steps overlap. A checkpoint shows that
// a path changed, not which session changed it. A path that the tools of one session named
// belongs to that session. A path that no session or several sessions named is shared.
type Attribution struct {
	Own    *state.PathScope
	Others []OtherStep
}

// OtherStep is a step of another session that ran at the same time.
type OtherStep struct {
	Label    string
	Reverted bool
	Claims   *state.PathScope
	Changed  map[string]bool
}

// ClaimedScope returns the scope of claimed paths; without claims it selects nothing. Paths
// outside the root are skipped.
func ClaimedScope(r *history.Store, paths []string) *state.PathScope {
	rels := []string{}
	for _, path := range paths {
		if rel, err := r.Rel(path); err == nil {
			rels = append(rels, rel)
		}
	}
	return state.NewPathScope(rels)
}

// Stays returns the reason why a path is not reverted, "" if it may be.
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

// WithoutOthers splits the changes of a step: own may be taken back, stay belongs to other
// sessions or is shared with them.
func (a *Attribution) WithoutOthers(step []history.Change) (own []history.Change, stay []state.PathReason) {
	own = slices.DeleteFunc(slices.Clone(step), func(c history.Change) bool {
		reason := a.Stays(c.Path)
		if reason != "" {
			stay = append(stay, state.PathReason{Path: state.Path(c.Path), Reason: reason})
		}
		return reason != ""
	})
	return own, stay
}

// ByOwner splits paths that stay: claimed by others (others) and shared (conflicts).
func ByOwner(stay []state.PathReason) (others, conflicts []state.PathReason) {
	for _, s := range stay {
		if strings.HasPrefix(s.Reason, reasonOthers) {
			others = append(others, s)
		} else {
			conflicts = append(conflicts, s)
		}
	}
	return others, conflicts
}
