package retention

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/thinned"
)

// survey holds every commit that is reachable from a ref, in units. A cleaning keeps a unit or drops it
// as a whole.
//
//   - A checkpoint of a day's line or of a session is a unit. Cleaning by age removes
//     whole lines. Cleaning by count and budget removes the oldest checkpoints of a line.
//   - Everything under a ref of an import or of another store is a unit.
//   - An operation is a unit, with the states before and after it.
type survey struct {
	repo  *history.Store
	Known map[object.ID]*node // all reachable commits
	units []*unit
	whole map[string]*unit    // by line
	owned map[object.ID]*unit // checkpoints of days' lines and of sessions
	tips  []surveyTip

	always []object.ID // trees and commits that always live

	records []odb.Ref // records of the user's git repository, and of paths outside the root

	refs  map[string]object.ID // at the beginning of the survey
	ends  history.Ends
	table *thinned.Table
	torn  bool        // the list of thinned checkpoints cannot be read: it is left alone
	left  []object.ID // see addLeft

	byLine map[string][]*unit // see line
}

// node is the part of a commit that decides liveness.
type node struct {
	tree    object.ID
	Parents []object.ID
	thinned *thinned.Record // nil = its state is there
	record  *thinned.Record // of a unit whose state goes
	when    time.Time
	onLine  bool     // it has the record of a line
	label   bool     // a caller has given it a message
	git     string   // record of the user's git repository; "" = none
	outside []string // records of paths outside the root
}

// unit lives or dies as a whole.
type unit struct {
	lines   []string // refs that reach it; for a session's unit also those of forks
	ids     []object.ID
	when    time.Time // no older than the units before it on its line
	last    time.Time // time of the newest unit of its line: decides the age
	class   unitClass
	dead    bool
	spared  bool // one of the newest, which always live
	commits int  // number of ids that count as checkpoints

	thinned bool   // its state is gone already
	thin    bool   // its state goes now
	rule    string // of Retention.Keep, by which its state stays or goes
	nearest *unit  // if its state goes: the unit that stays in its place
}

type unitClass int

const (
	unitTrack unitClass = iota
	unitSession
	unitOperation
	unitImported // no age: the time of the import is not recorded
	unitRemote
)

// surveyTip is a ref that is deleted with its unit.
type surveyTip struct {
	ref  odb.Ref
	unit *unit
}

// NewSurvey walks over all refs. An object that cannot be read ends a walk: the objects behind it
// are not known, so no decision is made about them.
func NewSurvey(ctx context.Context, r *history.Store) (*survey, error) {
	refs, err := r.DB.Refs("refs/")
	if err != nil {
		return nil, err
	}
	s := &survey{
		repo: r, Known: make(map[object.ID]*node), whole: make(map[string]*unit),
		owned: make(map[object.ID]*unit), refs: make(map[string]object.ID),
		byLine: make(map[string][]*unit),
	}
	s.readThinned()
	for _, ref := range refs {
		s.refs[ref.Name] = ref.ID
	}
	refs = slices.DeleteFunc(refs, func(ref odb.Ref) bool { return ref.Name == thinned.Ref })
	// Days first: a checkpoint of a day does not belong to the session or operation that continues from
	// it.
	for _, prefix := range []string{history.RefTracks, history.RefSessions, history.RefLost, history.RefOperations, history.RefImported, history.RefRemotes, history.RefGit, history.RefOutside, ""} {
		rest := refs[:0:0]
		for _, ref := range refs {
			if !strings.HasPrefix(ref.Name, prefix) || ref.Err != nil {
				rest = append(rest, ref)
				continue
			}
			if err := s.add(ctx, prefix, ref); err != nil {
				return nil, err
			}
		}
		refs = rest
	}
	return s, s.addLeft(ctx)
}

// readThinned reads the list of thinned checkpoints. Where a part of it is damaged, lines end before
// thinned ones.
func (s *survey) readThinned() {
	var err error
	if s.table, err = thinned.Read(s.repo.DB, nil); err == nil {
		_, err = s.table.All()
	}
	if s.ends = s.repo.EndsBy(s.table); err != nil {
		s.torn, s.ends = true, s.repo.EndsBy(nil)
		s.repo.Log.Warn("nothing is thinned: the list of thinned checkpoints is damaged", "error", err)
	}
}

// addLeft makes a line of what only the list of thinned checkpoints leads to. Damage has cut the way to
// it.
func (s *survey) addLeft(ctx context.Context) error {
	for _, id := range s.table.Kept() {
		if s.Known[id] != nil {
			continue
		}
		s.left = append(s.left, id)
		if err := s.addLine(ctx, odb.Ref{Name: thinned.Ref, ID: id}, unitTrack); err != nil {
			return err
		}
	}
	return nil
}

func (s *survey) add(ctx context.Context, prefix string, ref odb.Ref) error {
	switch prefix {
	case history.RefTracks, history.RefLost:
		return s.addLine(ctx, ref, unitTrack)
	case history.RefSessions:
		return s.addLine(ctx, ref, unitSession)
	case history.RefOperations:
		return s.addOperations(ctx, ref)
	case history.RefImported:
		return s.addWhole(ctx, ref, ref.Name, unitImported)
	case history.RefRemotes:
		return s.addWhole(ctx, ref, ref.Name, unitRemote)
	case history.RefGit, history.RefOutside:
		s.records = append(s.records, ref)
	}
	s.always = append(s.always, ref.ID)
	if ref.Name == history.RefTests { // a blob; it names checkpoints and keeps none
		return nil
	}
	if strings.HasPrefix(ref.Name, history.RefPins) || ref.Name == history.RefForked || strings.HasPrefix(ref.Name, history.RefForks) {
		// A pin and the beginning of a fork keep only the checkpoint itself.
		_, err := s.walk(ctx, ref.ID, s.owned)
		return err
	}
	ids, err := s.walk(ctx, ref.ID, nil)
	s.always = append(s.always, ids...)
	return err
}

// addLine makes a unit of each checkpoint of a line, with the commits that only this checkpoint
// reaches. A revert, for one, has its target as a second parent. What a line held before it went on elsewhere has
// units of its own.
func (s *survey) addLine(ctx context.Context, ref odb.Ref, class unitClass) error {
	id, u := ref.ID, s.owned[ref.ID]
	var last, when time.Time
	var beside []object.ID
	for ; u == nil; u = s.owned[id] {
		n, err := s.node(ctx, id)
		if err != nil {
			return err
		}
		if n == nil {
			break
		}
		if last.IsZero() {
			last, when = n.when, n.when
		}
		if n.when.Before(when) {
			when = n.when
		}
		own := s.addUnit(ref.Name, id, n, unit{when: when, last: last, class: class})
		if id == ref.ID && ref.Name != thinned.Ref {
			s.tips = append(s.tips, surveyTip{ref, own})
		}
		lines, err := s.takeBeside(ctx, own, n)
		if err != nil {
			return err
		}
		beside = append(beside, lines...)
		if len(n.Parents) == 0 {
			break
		}
		id = n.Parents[0]
	}
	if u != nil && id == ref.ID { // the line ends inside another line
		s.tips = append(s.tips, surveyTip{ref, u})
		last = s.Known[id].when
	}
	if u != nil && class == unitSession {
		s.share(ref.Name, last, u)
	}
	return s.addBeside(ctx, ref.Name, beside, unit{last: last, class: class})
}

// addUnit makes a unit of a checkpoint of a line, with the times and the class of another one.
func (s *survey) addUnit(line string, id object.ID, n *node, like unit) *unit {
	own := &unit{lines: []string{line}, ids: []object.ID{id}, when: like.when, last: like.last, class: like.class, commits: 1}
	if n.thinned != nil {
		own.thinned, own.commits = true, 0
	}
	s.units, s.owned[id] = append(s.units, own), own
	return own
}

// share makes the part of a session that a fork continues live as long as the fork.
func (s *survey) share(line string, last time.Time, u *unit) {
	for u != nil && u.class == unitSession {
		u.lines = append(u.lines, line)
		if last.After(u.last) {
			u.last = last
		}
		n := s.Known[u.ids[0]]
		if len(n.Parents) == 0 {
			return
		}
		u = s.owned[n.Parents[0]]
	}
}

// addWhole makes one unit of everything that is reachable from the refs of one line.
func (s *survey) addWhole(ctx context.Context, ref odb.Ref, line string, class unitClass) error {
	ids, err := s.walk(ctx, ref.ID, s.owned)
	if err != nil {
		return err
	}
	n := s.Known[ref.ID]
	if n == nil { // no commit: its age is not known
		s.always = append(s.always, ref.ID)
		return nil
	}
	u := s.whole[line]
	if u == nil {
		u = &unit{lines: []string{line}, class: class}
		s.whole[line] = u
		s.units = append(s.units, u)
	}
	u.ids = append(u.ids, ids...)
	if n.when.After(u.when) {
		u.when, u.last = n.when, n.when
	}
	s.tips = append(s.tips, surveyTip{ref, u})
	return nil
}

// addOperations makes a unit of each operation.
func (s *survey) addOperations(ctx context.Context, ref odb.Ref) error {
	id, when := ref.ID, time.Time{}
	for {
		n, err := s.node(ctx, id)
		if err != nil || n == nil || len(n.Parents) < 2 { // the oldest operation that stays has no parents, see judge
			return err
		}
		if when.IsZero() || n.when.Before(when) {
			when = n.when
		}
		states := n.Parents[len(n.Parents)-2:]
		u := &unit{lines: []string{ref.Name}, ids: append([]object.ID{id}, states...), when: when, last: when, class: unitOperation}
		s.units = append(s.units, u)
		if id == ref.ID {
			s.tips = append(s.tips, surveyTip{ref, u})
		}
		for _, state := range states {
			if _, err := s.walk(ctx, state, s.owned); err != nil {
				return err
			}
		}
		if len(n.Parents) == 2 {
			return nil
		}
		id = n.Parents[0]
	}
}
