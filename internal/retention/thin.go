package retention

import (
	"context"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/thinned"
)

// KeptRule is what one rule of Retention.Keep keeps. A checkpoint counts for the first rule that keeps it.
type KeptRule struct {
	Rule        string `json:"rule" doc:"all, hourly, daily, or protected: what stays whatever its age, such as pins."`
	Checkpoints int    `json:"checkpoints"` // whose states stay
	Thinned     int    `json:"thinned"`     // whose states go by it
	Bytes       int64  `json:"bytes"`       // stored, of the objects that no rule before it keeps
}

// ruleProtected stands for the checkpoints that no rule keeps and that stay.
const ruleProtected = "protected"

// thinOut decides which checkpoints of days and sessions lose their states. The newest one of each hour
// or day of a line stays. So do the newest ones of all, heads of lines, what has a name, states of
// operations that can be undone, and the newest state whose tests passed.
func (s *survey) thinOut(ctx context.Context, keep settings.Keep, now time.Time) error {
	if !keep.Thins() {
		return nil
	}
	for _, t := range s.tips {
		if t.unit.class == unitTrack || t.unit.class == unitSession {
			s.byRules(t, keep, now)
		}
	}
	protected, err := s.protected(ctx)
	if err != nil {
		return err
	}
	for _, u := range s.owned {
		if u.dead || u.thinned || u.rule != "" {
			continue
		}
		if protected[u.ids[0]] || u.spared {
			u.rule = ruleProtected
			continue
		}
		u.rule, _ = keep.Rule(now.Sub(u.when))
		u.thin = u.rule != settings.KeepAll
	}
	s.keepBeside()
	s.findNearest()
	return nil
}

// line yields the units of a line that own it, newest first.
func (s *survey) line(t surveyTip) (units []*unit) {
	for u := s.owned[t.ref.ID]; u != nil && slices.Contains(u.lines, t.ref.Name); {
		units = append(units, u)
		n := s.Known[u.ids[0]]
		if n == nil || len(n.Parents) == 0 {
			break
		}
		u = s.owned[n.Parents[0]]
	}
	return units
}

// byRules marks the newest unit of each hour and each day of a line. The times of units are in order on
// their line whatever the clock did.
func (s *survey) byRules(t surveyTip, keep settings.Keep, now time.Time) {
	last := make(map[time.Duration]time.Time) // the newer bucket, by its length
	for _, u := range s.line(t) {
		if u.dead || u.thinned {
			continue
		}
		rule, bucket := keep.Rule(now.Sub(u.when))
		at := u.when.UTC()
		if bucket == 0 || !at.Truncate(bucket).Equal(last[bucket]) {
			if u.rule == "" || rule == settings.KeepAll {
				u.rule = rule
			}
		}
		for _, length := range []time.Duration{time.Hour, 24 * time.Hour} {
			last[length] = at.Truncate(length)
		}
	}
}

// protected returns the commits that keep their states whatever their age.
func (s *survey) protected(ctx context.Context) (map[object.ID]bool, error) {
	keep := make(map[object.ID]bool)
	for _, id := range s.always {
		keep[id] = true
	}
	for _, t := range s.tips {
		keep[t.ref.ID] = true
	}
	for _, u := range s.owned {
		if s.Known[u.ids[0]].label || slices.Contains(u.lines, thinned.Ref) {
			keep[u.ids[0]] = true
		}
	}
	for _, u := range s.units {
		if u.dead || u.class == unitTrack || u.class == unitSession {
			continue
		}
		for _, id := range u.ids {
			keep[id] = true
		}
	}
	return keep, s.keepGreen(ctx, keep)
}

// keepGreen adds the newest checkpoint whose tests passed, and the newest one that each command passed.
func (s *survey) keepGreen(ctx context.Context, keep map[object.ID]bool) error {
	all, err := s.repo.TestResults(ctx)
	if err != nil {
		return nil // doctor reports it, and it keeps no checkpoint from being thinned
	}
	newest := make(map[string]object.ID)
	note := func(what, checkpoint string) {
		id, err := object.ParseID(checkpoint)
		n := s.Known[id]
		if err != nil || n == nil || n.thinned != nil {
			return
		}
		if old, ok := newest[what]; !ok || !s.Known[old].when.After(n.when) {
			newest[what] = id
		}
	}
	for checkpoint, passed := range history.Verdicts(all) {
		if passed {
			note("", checkpoint)
		}
	}
	for i := range all {
		if all[i].Passed() {
			note("\x00"+commandKey(all[i].Command), all[i].Checkpoint)
		}
	}
	for _, id := range newest {
		keep[id] = true
	}
	return ctx.Err()
}

func commandKey(command []string) (key string) {
	for _, word := range command {
		key += word + "\x00"
	}
	return key
}

// keepBeside keeps the states of checkpoints that one with a state has as a parent beside its line: a
// revert has the state that it was to reach.
func (s *survey) keepBeside() {
	for again := true; again; {
		again = false
		for id, n := range s.Known {
			if u := s.owned[id]; n.thinned != nil || len(n.Parents) < 2 || u != nil && (u.thin || u.dead) {
				continue
			}
			for _, p := range n.Parents[1:] {
				if u := s.owned[p]; u != nil && u.thin && u.ids[0] == p {
					u.thin, u.rule, again = false, ruleProtected, true
				}
			}
		}
	}
}

// findNearest finds what stays in the place of each unit that goes: the next newer one of its line.
func (s *survey) findNearest() {
	for _, t := range s.tips {
		var stays *unit
		for _, u := range s.line(t) {
			switch {
			case u.dead || u.thinned:
			case !u.thin:
				stays = u
			case u.nearest == nil:
				u.nearest = stays
			}
		}
	}
}

// keptRules counts what each rule keeps, and measures it.
func (r *Cleaner) keptRules(ctx context.Context, s *survey, keep settings.Keep) ([]KeptRule, error) {
	if !keep.Thins() {
		return nil, nil
	}
	size, err := r.DB.StoredSizes()
	if err != nil {
		return nil, err
	}
	m := s.measure(size)
	var rules []KeptRule
	for _, rule := range []string{settings.KeepAll, settings.KeepHourly, settings.KeepDaily, ruleProtected} {
		k, before := KeptRule{Rule: rule}, m.total
		for _, u := range s.units {
			switch {
			case u.rule != rule || u.dead || u.commits == 0:
			case u.thin:
				k.Thinned += u.commits
			default:
				k.Checkpoints += u.commits
				for _, id := range u.ids {
					if err := m.add(ctx, id); err != nil {
						return nil, err
					}
				}
			}
		}
		if k.Bytes = m.total - before; rule != settings.KeepHourly || keep.Hourly > 0 {
			rules = append(rules, k)
		}
	}
	return rules, nil
}
