package plan

import (
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Absence decides whether a path that a state does not hold was certainly absent there. A
// plan that goes back to the state deletes only certainly absent paths.
type Absence struct {
	Known map[string]bool // paths that were absent, whatever the rules say

	covered *state.Coverage
	then    *history.TreeRules
	today   *history.TreeRules // nil: the rules in force now do not count
}

// NewAbsence is the Absence of s. later is a state after s, which may show traces of rules
// that s did not record.
func NewAbsence(store *history.Store, s, later state.State) *Absence {
	return &Absence{Known: make(map[string]bool), covered: state.NewCoverage(s.Meta), then: store.TreeRules(s, later)}
}

// MayHaveExisted returns why the state may have had a path that its tree lacks; "" if it
// certainly had not.
func (a *Absence) MayHaveExisted(path string, dir bool) string {
	if a.Known[path] {
		return ""
	}
	if reason := a.covered.Uncaptured(path); reason != "" {
		return ReasonNotCaptured + reason
	}
	reason := a.then.MayHaveIgnored(path, dir, ReasonIgnoredThen, reasonRulesThen)
	if reason == "" && a.today != nil {
		reason = a.today.MayHaveIgnored(path, dir, ReasonIgnoredToday, reasonRulesToday)
	}
	return reason
}
