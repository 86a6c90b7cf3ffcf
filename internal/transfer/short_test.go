package transfer

import (
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// shortened is a machine with two lines whose beginnings are gone.
func shortened(t *testing.T) *machine {
	t.Helper()
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	f.session("short", "One", 5, map[string]string{"b": "1\n"})
	f.cutAt(f.track(map[string]string{"a": "2\n"}), f.session("short", "One", 6, map[string]string{"b": "2\n"}))
	return f
}

// cutAt drops what came before checkpoints, as a cleaning does.
func (m *machine) cutAt(list ...*history.Checkpoint) {
	m.Helper()
	var ids []object.ID
	for _, c := range list {
		ids = append(ids, history.IDOf(c))
	}
	if err := m.DB.SetShallow(ids); err != nil {
		m.Fatal(err)
	}
}

// wantLeft fails unless the remote lacks some checkpoints, the newest of the day among them.
func (m *machine) wantLeft(want int, why string) {
	m.Helper()
	lacks, err := m.Unpushed()
	if err != nil {
		m.Fatal(err)
	}
	if s := m.status(); s.Behind != want || s.Failures != 0 || lacks(m.Today()) != (want > 0) {
		m.Errorf("%s: status %+v, want %d behind; the line is not there: %v", why, s, want, lacks(m.Today()))
	}
}

// TestLinesThatARemoteRefuses: lines without their beginning count as not pushed until the remote takes them. Sync does
// not try them again and again.
func TestLinesThatARemoteRefuses(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := shortened(t)
	if pushed := f.push(dir); len(pushed) > 0 {
		t.Errorf("pushed %q", pushed)
	}
	f.wantLeft(2, "refused")
	f.wantBehind(o, dir, 2)
	f.Opt.Sync = dir
	if pushed := f.sync(); len(pushed) > 0 {
		t.Errorf("pushed %q", pushed)
	}
	statetest.Append(t, f.Store, history.RefSessions+"s", statetest.NewState(t, f.Store, map[string]string{"b": "1\n"}), history.StateLabel{})
	if pushed := f.sync(); !slices.Equal(pushed, []string{"sessions/s"}) {
		t.Errorf("pushed %q", pushed)
	}
	f.wantLeft(2, "beside another line")
	o.In(dir, "config", "receive.shallowUpdate", "true")
	if pushed := f.push(dir); len(pushed) != 2 {
		t.Errorf("pushed %q", pushed)
	}
	f.wantLeft(0, "taken")
	if pushed := f.push(dir); len(pushed) != 0 {
		t.Errorf("pushed %q again", pushed)
	}
}

// TestSealedLeavesOut: the same of a sealed push, which no remote can take.
func TestSealedLeavesOut(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := shortened(t)
	f.sealsFor(newKey(t)).push(bareRepository(t, o))
	f.wantLeft(2, "sealed")
}

// TestFetchShortLines: lines without their beginning come from a remote that takes them, and from a store of this
// machine, and go on. A line that is whole here stays so.
func TestFetchShortLines(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	o := gittest.NewOracle(t)
	whole, short := bareRepository(t, o), bareRepository(t, o)
	o.In(short, "config", "receive.shallowUpdate", "true")
	f := newMachine(t)
	first := f.track(map[string]string{"a": "1\n"})
	f.session("s", "One", 5, map[string]string{"b": "1\n"})
	head, last := f.track(map[string]string{"a": "2\n"}), f.session("s", "One", 6, map[string]string{"b": "2\n"})
	f.push(whole)
	all, g, h := f.other(), f.other(), f.other()
	all.fetch(whole)
	f.cutAt(head, last)
	f.push(short)
	for range 2 {
		g.fetch(short)
		h.fetch(f.DB.Dir())
		all.fetch(short)
		for _, m := range []*machine{g, h} {
			m.has(f, head, last)
			if ends := m.DB.Ends(); len(ends) != 2 || !ends.Has(history.IDOf(head)) || !ends.Has(history.IDOf(last)) {
				t.Errorf("lines end at %v", ends)
			}
			o.In(m.DB.Dir(), "fsck", "--strict", "--full")
		}
		all.has(f, first, head)
		if ends := all.DB.Ends(); ends != nil {
			t.Errorf("a whole line ends at %v", ends)
		}
		f.track(map[string]string{"a": "3\n"})
		f.push(short)
	}
}
