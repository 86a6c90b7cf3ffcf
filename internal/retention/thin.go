package retention

import (
	"context"
	"encoding/json"
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
	if !keep.Thins() || s.torn {
		return nil
	}
	for _, t := range s.tips {
		if t.unit.class == unitTrack || t.unit.class == unitSession {
			s.byRules(t, keep, now)
		}
	}
	protected, err := s.protected(ctx)
	if err != nil {
		s.repo.Log.Warn("nothing is thinned: the checkpoints that tests need are not known", "error", err)
		return ctx.Err()
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

// line returns the units of a line that own it, newest first. Each line is walked once, after the survey.
func (s *survey) line(t surveyTip) []*unit {
	units, known := s.byLine[t.ref.Name]
	if !known {
		units = s.walkLine(t)
		s.byLine[t.ref.Name] = units
	}
	return units
}

func (s *survey) walkLine(t surveyTip) (units []*unit) {
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
	for _, t := range s.tips {
		if t.unit.class == unitSession && !t.unit.dead {
			s.keepWork(t, keep)
		}
	}
	return keep, s.keepGreen(ctx, keep)
}

// workRecord is the part of a session's record that says what is under way. Package session writes it.
type workRecord struct {
	Events []struct {
		Kind string `json:"kind"`
		Step string `json:"step"`
	} `json:"events"`
	Now struct {
		Open string `json:"open"` // step
	} `json:"now"`
}

// waits reports whether a revert before these events is in effect yet: they neither go on with the session nor move
// its boundary.
func (w *workRecord) waits() bool {
	for _, ev := range w.Events {
		if !slices.Contains([]string{"told", "begin", "inGit", "owner"}, ev.Kind) {
			return false
		}
	}
	return len(w.Events) > 0
}

// keepWork adds what the end of a session needs: the state with which an open step began, and the states
// of the reverts with which the line ends.
func (s *survey) keepWork(t surveyTip, keep map[object.ID]bool) {
	open, saved, reverted := "", "", true // saved: the state before the last revert
	units := s.line(t)
	for i, u := range units {
		line, work, err := s.lineRecord(u.ids[0])
		if err != nil { // verify reports it; until then the rest of the line stays
			for _, u := range units[i:] {
				keep[u.ids[0]] = true
			}
			return
		}
		if u.ids[0] == t.ref.ID {
			open = work.Now.Open
		}
		switch {
		case reverted && (line.Before != "" || u.ids[0].String() == saved):
			saved, keep[u.ids[0]] = line.Before, true // where nothing else was wanted, the revert itself tells the state
			keepNamed(keep, line.Before, line.Wanted)
		case !work.waits():
			reverted = false
		}
		for _, ev := range work.Events {
			if open != "" && ev.Kind == "step" && ev.Step == open {
				keep[u.ids[0]], open = true, ""
			}
		}
		if !reverted && open == "" {
			return
		}
	}
}

func keepNamed(keep map[object.ID]bool, ids ...string) {
	for _, text := range ids {
		if id, err := object.ParseID(text); err == nil {
			keep[id] = true
		}
	}
}

// lineRecord reads the record of a checkpoint of a session.
func (s *survey) lineRecord(id object.ID) (line history.LineRecord, work workRecord, err error) {
	c, err := s.repo.ReadCheckpoint(id)
	if err != nil {
		return line, work, err
	}
	if value := history.CommitOf(c).Header(history.LineHeader); value != "" {
		err = json.Unmarshal([]byte(value), &line)
	}
	if err == nil && len(line.Record) > 0 {
		err = json.Unmarshal(line.Record, &work)
	}
	return line, work, err
}

// keepGreen adds the newest checkpoint whose tests passed, and the newest one that each command passed.
func (s *survey) keepGreen(ctx context.Context, keep map[object.ID]bool) error {
	all, err := s.repo.TestResults(ctx)
	if err != nil {
		return err
	}
	passed := make(map[string][]string) // keys by checkpoint
	for checkpoint, ok := range history.Verdicts(all) {
		if ok {
			passed[checkpoint] = append(passed[checkpoint], "")
		}
	}
	for i := range all {
		if t := &all[i]; t.Passed() {
			passed[t.Checkpoint] = append(passed[t.Checkpoint], "\x00"+commandKey(t.Command))
		}
	}
	if len(passed) == 0 {
		return nil
	}
	have := make(map[string]bool)
	for _, u := range s.newest(false) {
		for _, key := range passed[u.ids[0].String()] {
			if !have[key] && !u.dead {
				have[key], keep[u.ids[0]] = true, true
			}
		}
	}
	return nil
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
	for id := range s.Known {
		s.keepBesideOf(id)
	}
}

func (s *survey) keepBesideOf(id object.ID) {
	n := s.Known[id]
	if u := s.owned[id]; n.thinned != nil || len(n.Parents) < 2 || u != nil && (u.thin || u.dead) {
		return
	}
	for _, p := range n.Parents[1:] {
		if s.spareThin(p) {
			s.keepBesideOf(p)
		}
	}
}

// spareThin lets a checkpoint keep its state that was to go. It reports whether the state was to go and is
// still there: a cleaning that removes more in several steps has listed it already.
func (s *survey) spareThin(id object.ID) bool {
	u := s.owned[id]
	if u == nil || !u.thin || s.table.Has(id) {
		return false
	}
	u.thin, u.rule = false, ruleProtected
	return true
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
