package retention

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/collect"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
)

// planCase decides about lines. A line is a ref and its checkpoints, oldest first, as
// "name:age in days"; "from:name" as the first one continues the line at that checkpoint. A pin
// names one checkpoint; an operation is "before>after:age".
type planCase struct {
	name       string
	lines      [][]string // the ref first
	pins       []string
	operations []string
	keep       settings.Retention // passed through WithDefaults
	bytes      int64              // budget of bySize in objects, 0 = no budget
	live       string             // names of the checkpoints that stay, sorted
	gone       []string           // refs that go
	shortened  []string
	left       int // operations that stay
}

const (
	dayA, dayB   = history.RefTracks + "2026-01-01", history.RefTracks + "2026-01-02"
	sessA, sessB = history.RefSessions + "a", history.RefSessions + "b"
)

var planCases = []planCase{
	{
		name:  "a line goes as a whole, by the age of its last checkpoint",
		lines: [][]string{{dayA, "a:20", "b:9"}, {dayB, "c:30", "d:6"}, {sessA, "e:0"}},
		keep:  settings.Retention{KeepLast: 1}, live: "c d e", gone: []string{dayA},
	},
	{
		name:  "the age is reached, not passed",
		lines: [][]string{{dayA, "a:7"}, {dayB, "b:0"}},
		keep:  settings.Retention{KeepLast: 1}, live: "a b",
	},
	{
		name:  "the newest stay, however old",
		lines: [][]string{{dayA, "a:40"}, {dayB, "b:30"}, {sessA, "c:20"}},
		keep:  settings.Retention{KeepLast: 2}, live: "b c", gone: []string{dayA},
	},
	{
		name:  "a line with one of the newest stays whole",
		lines: [][]string{{dayA, "a:40", "b:30"}},
		keep:  settings.Retention{KeepLast: 1}, live: "a b",
	},
	{
		name:  "one checkpoint stays whatever the policy is",
		lines: [][]string{{dayA, "a:40"}, {dayB, "b:30"}},
		keep:  settings.Retention{KeepLast: settings.NoLimit, MaxAge: 1}, live: "b", gone: []string{dayA},
	},
	{
		name:  "the count cuts inside lines, the oldest first",
		lines: [][]string{{dayA, "a:4", "b:2"}, {dayB, "c:3", "d:1"}},
		keep:  settings.Retention{KeepLast: 1, MaxCount: 3}, live: "b c d", shortened: []string{dayA},
	},
	{
		name:  "the count spares the newest",
		lines: [][]string{{dayA, "a:4", "b:3", "c:2", "d:1"}},
		keep:  settings.Retention{KeepLast: 3, MaxCount: 1}, live: "b c d", shortened: []string{dayA},
	},
	{
		name:  "equal times go in the order of their line",
		lines: [][]string{{dayA, "a:1", "b:1", "c:1"}},
		keep:  settings.Retention{KeepLast: 1, MaxCount: 2}, live: "b c", shortened: []string{dayA},
	},
	{
		name:  "a clock that went back makes no later checkpoint older",
		lines: [][]string{{dayA, "a:1", "b:3"}, {dayB, "c:2"}},
		keep:  settings.Retention{KeepLast: 1, MaxCount: 2}, live: "b c", shortened: []string{dayA},
	},
	{
		name:  "a fork keeps the part of the session that it continues",
		lines: [][]string{{sessA, "a:30", "b:29", "c:28"}, {sessB, "from:b", "d:1"}, {dayB, "e:0"}},
		keep:  settings.Retention{KeepLast: 1}, live: "a b d e", gone: []string{sessA},
	},
	{
		name:  "a day does not live on through a session that begins at it",
		lines: [][]string{{dayA, "a:30"}, {sessA, "from:a", "b:1"}},
		keep:  settings.Retention{KeepLast: 1}, live: "b", gone: []string{dayA},
	},
	{
		name:  "an import has no age",
		lines: [][]string{{history.RefImported + "x", "a:90"}, {dayB, "b:0"}},
		keep:  settings.Retention{KeepLast: 1}, live: "a b",
	},
	{
		name:  "a line of another store has",
		lines: [][]string{{history.RefRemotes + "0123456789abcdef/tracks/x", "a:90", "b:80"}, {dayB, "c:0"}},
		keep:  settings.Retention{KeepLast: 1}, live: "c", gone: []string{history.RefRemotes + "0123456789abcdef/tracks/x"},
	},
	{
		name:  "a pin keeps its checkpoint alone",
		lines: [][]string{{dayA, "a:30", "b:29", "c:28"}, {dayB, "d:0"}}, pins: []string{"b"},
		keep: settings.Retention{KeepLast: 1}, live: "b d", gone: []string{dayA},
	},
	{
		name:  "operations go one by one, with their states",
		lines: [][]string{{dayA, "a:30"}, {dayB, "b:0"}}, operations: []string{"a>b:20", "b>b:8", "b>b:1"},
		keep: settings.Retention{KeepLast: 1}, live: "b", gone: []string{dayA}, left: 1,
	},
	{
		name:  "an operation that stays keeps its states",
		lines: [][]string{{dayA, "a:30"}, {dayB, "b:0"}}, operations: []string{"a>b:1"},
		keep: settings.Retention{KeepLast: 1}, live: "a b", gone: []string{dayA}, left: 1,
	},
	{
		name:  "the budget takes the oldest",
		lines: [][]string{{dayA, "a:4", "b:3"}, {dayB, "c:2", "d:1"}},
		keep:  settings.Retention{KeepLast: 1}, bytes: 7, live: "c d", gone: []string{dayA}, // commit, tree and blob are 3 objects
	},
	{
		name:  "the budget never takes the newest",
		lines: [][]string{{dayA, "a:4", "b:3"}, {dayB, "c:2", "d:1"}},
		keep:  settings.Retention{KeepLast: 3}, bytes: 1, live: "b c d", shortened: []string{dayA},
	},
	{
		name:  "what a pin holds counts before anything else",
		lines: [][]string{{dayA, "a:4"}, {dayB, "b:2", "c:1"}}, pins: []string{"a"},
		keep: settings.Retention{KeepLast: 1}, bytes: 7, live: "a c", gone: []string{dayA}, shortened: []string{dayB},
	},
}

// planned is a store made of a case, and its checkpoints by name.
type planned struct {
	*aged
	ids map[string]string
}

func (c *planCase) make(t *testing.T) *planned {
	p := &planned{newAged(t), make(map[string]string)}
	for _, line := range c.lines {
		ref := line[0]
		for _, step := range line[1:] {
			name, age, _ := strings.Cut(step, ":")
			if name == "from" {
				p.setRef(ref, p.ids[age])
				continue
			}
			p.time = noon.Add(-days(t, age))
			p.ids[name] = p.append(ref, name)
		}
	}
	p.time = noon
	for _, name := range c.pins {
		p.setRef(history.RefPins+name, p.ids[name])
	}
	for _, op := range c.operations {
		states, age, _ := strings.Cut(op, ":")
		before, after, _ := strings.Cut(states, ">")
		p.operation(days(t, age), p.ids[before], p.ids[after])
	}
	return p
}

func days(t *testing.T, age string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(age + "h")
	if err != nil {
		t.Fatal(err)
	}
	return 24 * d
}

// TestPlan holds the policy: the units that live by age, count, budget and pins, the refs that
// go, and the lines that lose their beginning.
func TestPlan(t *testing.T) {
	t.Parallel()
	for _, c := range planCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := c.make(t)
			s, err := NewSurvey(t.Context(), p.Store)
			if err != nil {
				t.Fatal(err)
			}
			keep := settings.WithDefaults(c.keep, func() int64 { return settings.NoBytes })
			s.spare(keep.KeepLast)
			s.byAge(keep.MaxAge, 0, noon)
			s.byCount(keep.MaxCount)
			if c.bytes > 0 {
				if fits, err := s.bySize(t.Context(), c.bytes, settings.NoBytes, func(object.ID) int64 { return 1 }); err != nil || !fits {
					t.Fatal(fits, err)
				}
			}
			v, err := s.judge(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			p.judged(&c, s, v)
		})
	}
}

// judged carries a verdict out and compares what is left.
func (p *planned) judged(c *planCase, s *survey, v *verdict) {
	p.Helper()
	var gone []string
	for _, ref := range v.gone {
		gone = append(gone, ref.Name)
	}
	if slices.Sort(gone); !slices.Equal(gone, c.gone) {
		p.Errorf("refs %q go, want %q", gone, c.gone)
	}
	if !slices.Equal(v.shortened, c.shortened) {
		p.Errorf("lines %q lose their beginning, want %q", v.shortened, c.shortened)
	}
	if err := p.Locked(p.Context(), func(l *history.Locked) error { return p.carryOutVerdict(l, s, v) }); err != nil {
		p.Fatal(err)
	}
	if _, err := collect.Run(p.Context(), p.DB, collect.Options{Thorough: true}); err != nil {
		p.Fatal(err)
	}
	var live []string
	for _, name := range slices.Sorted(maps.Keys(p.ids)) {
		if ok, err := p.DB.Has(p.id(p.ids[name])); err != nil {
			p.Fatal(err)
		} else if ok {
			live = append(live, name)
		}
	}
	if got := strings.Join(live, " "); got != c.live {
		p.Errorf("%q live, want %q", got, c.live)
	}
	left := 0
	for _, err := range p.Operations(p.Context()) {
		if left++; err != nil {
			p.Fatal(err)
		}
	}
	if left != c.left {
		p.Errorf("%d operations are left, want %d", left, c.left)
	}
}

// A budget that the newest alone exceed removes nothing: it could not be kept anyway.
func TestPlanOfABudgetThatCannotBeKept(t *testing.T) {
	t.Parallel()
	c := planCase{lines: [][]string{{dayA, "a:4", "b:3"}, {dayB, "c:2", "d:1"}}}
	p := c.make(t)
	s, err := NewSurvey(t.Context(), p.Store)
	if err != nil {
		t.Fatal(err)
	}
	s.spare(2)
	fits, err := s.bySize(t.Context(), 4, 4, func(object.ID) int64 { return 1 })
	if err != nil || fits || s.living() != 4 {
		t.Errorf("fits %v, %v, %d units live", fits, err, s.living())
	}
}

// An object that several units reach is counted once, for the first of them.
func TestMeasureCountsOnce(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	one := f.id(f.trackAgo(2*day, "same"))
	two := f.id(f.trackAgo(day, "same"))
	s, err := NewSurvey(t.Context(), f.Store)
	if err != nil {
		t.Fatal(err)
	}
	m := s.measure(func(object.ID) int64 { return 1 })
	for _, c := range []struct {
		id   object.ID
		want int64
	}{
		{one, 3}, // commit, tree and blob
		{one, 3},
		{two, 4}, // the commit alone
		{object.Sum(object.Blob, []byte("missing")), 4},
	} {
		if err := m.add(t.Context(), c.id); err != nil {
			t.Fatal(err)
		}
		if m.total != c.want {
			t.Errorf("after %s: %d objects, want %d", c.id, m.total, c.want)
		}
	}
}
