package retention

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// verdict lists the changes that make everything dead unreachable.
type verdict struct {
	gone          []odb.Ref   // refs to delete
	cut           []object.ID // commits whose parents no longer count
	shortened     []string    // refs of days and sessions that lose their oldest part
	kept, dropped int         // checkpoints
	thinned       int         // checkpoints whose states go
	list          *thinList   // of thinned checkpoints
	records       []odb.Ref   // of git and of paths outside, which go unless a newer checkpoint names them
	oldest        time.Time   // of the living checkpoints with a record; zero = there is none
}

// removes reports whether a ref is deleted.
func (v *verdict) removes(name string) bool {
	return slices.ContainsFunc(v.gone, func(ref odb.Ref) bool { return ref.Name == name })
}

// newest returns the units with checkpoints, or the operations, newest first.
func (s *survey) newest(operations bool) []*unit {
	var some []*unit
	for _, u := range s.units {
		if u.commits > 0 && !operations || u.class == unitOperation && operations {
			some = append(some, u)
		}
	}
	sortNewest(some)
	return some
}

// sortNewest sorts units by time. Units of equal time keep the order of their line.
func sortNewest(units []*unit) {
	slices.SortStableFunc(units, func(a, b *unit) int { return b.when.Compare(a.when) })
}

// spare protects the newest units: keepLast of each kind, and always one checkpoint.
func (s *survey) spare(keepLast int) {
	for _, operations := range []bool{false, true} {
		n, most := 0, keepLast
		if !operations {
			most = max(1, keepLast)
		}
		for _, u := range s.newest(operations) {
			if n >= most {
				break
			}
			u.spared = true
			n += max(1, u.commits)
		}
	}
}

// byAge removes whole lines whose last checkpoint is older than maxAge and than least, and operations that
// are older than maxAge. A line with a spared unit stays.
func (s *survey) byAge(maxAge, least time.Duration, now time.Time) {
	spared := make(map[string]bool)
	for _, u := range s.units {
		if u.spared && u.class != unitOperation {
			for _, line := range u.lines {
				spared[line] = true
			}
		}
	}
	for _, u := range s.units {
		limit := maxAge
		if u.class != unitOperation {
			limit = max(maxAge, least)
		}
		if u.class != unitImported && !u.spared && !slices.ContainsFunc(u.lines, func(line string) bool { return spared[line] }) && now.Sub(u.last) > limit {
			u.dead = true
		}
	}
}

// byCount removes the oldest checkpoints beyond maxCount.
func (s *survey) byCount(maxCount int) {
	n := 0
	for _, u := range s.newest(false) {
		if u.dead || u.thin {
			continue
		}
		if n += u.commits; n > maxCount && !u.spared {
			u.dead = true
		}
	}
}

// bySize removes the oldest units that do not fit into budget bytes. If the protected units alone
// take more than most bytes, it removes none and returns false.
func (s *survey) bySize(ctx context.Context, budget, most int64, size func(object.ID) int64) (bool, error) {
	m, err := s.measureAlways(ctx, size)
	if err != nil {
		return false, err
	}
	living := slices.DeleteFunc(slices.Clone(s.units), func(u *unit) bool { return u.dead })
	sortNewest(living)
	slices.SortStableFunc(living, func(a, b *unit) int { return cmp.Compare(rank(a), rank(b)) })
	full := false
	for _, u := range living {
		before := m.total
		if full && !u.spared {
			u.dead = true
			continue
		}
		if u.gone() {
			continue
		}
		for _, id := range u.ids {
			if err := m.add(ctx, id); err != nil {
				return false, err
			}
		}
		switch full = full || m.total > budget; {
		case u.spared && m.total > most:
			return false, nil // spared units come first, so none was removed
		case full && !u.spared:
			u.dead, m.total = true, before
		}
	}
	return true, nil
}

// measureAlways starts a measure with the objects that always live.
func (s *survey) measureAlways(ctx context.Context, size func(object.ID) int64) (*measure, error) {
	m := s.measure(size)
	for _, id := range s.always {
		if err := m.add(ctx, id); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// rank sorts spared units first.
func rank(u *unit) int {
	if u.spared {
		return 0
	}
	return 1
}

// judge computes the verdict.
//
// A living commit without a living parent is cut: it becomes the beginning of its line, as in a
// shallow clone. If only some of its parents live, as for the oldest operation that stays, the
// other parents stay as commits and are cut in turn.
func (s *survey) judge(ctx context.Context) (*verdict, error) {
	v := &verdict{}
	s.dropThinned()
	live := make(map[object.ID]bool)
	for _, id := range s.always {
		if n := s.Known[id]; n == nil || n.thinned == nil {
			live[id] = true
		}
	}
	for _, u := range s.units {
		switch {
		case u.dead:
			v.dropped += u.commits
			continue
		case u.gone():
			v.thinned += u.commits
			continue
		}
		v.kept += u.commits
		for _, id := range u.ids {
			live[id] = true
		}
	}
	for _, t := range s.tips {
		if t.unit.dead {
			v.gone = append(v.gone, t.ref)
		}
	}
	var stubs []object.ID
	if err := s.listThinned(v, live); err != nil {
		return nil, err
	}
	for id := range live {
		n := s.Known[id]
		if n == nil || len(n.Parents) == 0 || v.list.records[n.Parents[0]] != nil {
			continue
		}
		missing := s.deadParents(n, live)
		switch len(missing) {
		case 0:
		case len(n.Parents):
			v.cut = append(v.cut, id)
		default:
			stubs = append(stubs, missing...)
		}
	}
	for _, id := range stubs {
		if n := s.Known[id]; n != nil && len(n.Parents) > 0 {
			v.cut = append(v.cut, id)
		}
	}
	s.judgeRecords(v, live)
	v.shortened = slices.DeleteFunc(s.shortened(), v.removes)
	return v, ctx.Err()
}

// shortened lists the days and sessions that lose a part.
func (s *survey) shortened() []string {
	loses, keeps := make(map[string]bool), make(map[string]bool)
	for _, u := range s.units {
		for _, line := range u.lines {
			loses[line] = loses[line] || u.commits > 0 && u.dead
			keeps[line] = keeps[line] || u.commits > 0 && !u.dead
		}
	}
	var list []string
	for line := range loses {
		if loses[line] && keeps[line] {
			list = append(list, line)
		}
	}
	slices.Sort(list)
	return list
}

// deadParents lists the parents that do not live. A parent that the survey does not know is missing
// or unreadable, and no decision is made about it.
func (s *survey) deadParents(n *node, live map[object.ID]bool) []object.ID {
	var dead []object.ID
	for _, p := range n.Parents {
		if !live[p] && s.Known[p] != nil {
			dead = append(dead, p)
		}
	}
	return dead
}

// measure sums the stored size of commits and trees, each object once.
type measure struct {
	repo  *history.Store
	known map[object.ID]*node // commits that need not be read
	size  func(object.ID) int64
	seen  map[object.ID]bool
	total int64
}

func (s *survey) measure(size func(object.ID) int64) *measure {
	return &measure{repo: s.repo, known: s.Known, size: size, seen: make(map[object.ID]bool)}
}

// add counts a tree, or a commit with its tree but without its parents.
func (m *measure) add(ctx context.Context, id object.ID) error {
	if m.seen[id] {
		return nil
	}
	if n := m.known[id]; n != nil {
		return m.commit(ctx, id, n.tree)
	}
	kind, data, err := m.repo.DB.Read(id)
	if err != nil {
		return nil // a missing object takes no space
	}
	switch kind {
	case object.Commit:
		if c, err := object.ParseCommit(data); err == nil {
			return m.commit(ctx, id, c.Tree)
		}
		m.count(id)
	case object.Tree:
		return m.tree(ctx, id)
	}
	return nil
}

func (m *measure) commit(ctx context.Context, id, tree object.ID) error {
	m.count(id)
	return m.tree(ctx, tree)
}

func (m *measure) count(id object.ID) {
	m.seen[id] = true
	m.total += m.size(id)
}

func (m *measure) tree(ctx context.Context, id object.ID) error {
	if m.seen[id] {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m.count(id)
	entries, err := m.repo.ReadTree(id)
	if err != nil {
		return nil
	}
	for i := range entries {
		e := &entries[i]
		switch {
		case m.seen[e.ID]:
		case e.Mode == object.Dir:
			err = m.tree(ctx, e.ID)
		default:
			m.count(e.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
