package transfer

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

func (m *machine) store() string {
	m.Helper()
	id, err := m.DB.Identity(false)
	if err != nil {
		m.Fatal(err)
	}
	return id
}

// TestCleanRemoteMachine: all refs of one other store go, open and sealed ones, after a plan that changes nothing. The
// others stay, and the machine can push again.
func TestCleanRemoteMachine(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	o := gittest.NewOracle(t)
	for name, seals := range map[string]bool{"open": false, "sealed": true} {
		dir := bareRepository(t, o)
		f := newMachine(t)
		g, h := f.other(), f.other()
		all := []*machine{f, g, h}
		if seals {
			k := newKey(t)
			for _, m := range all {
				m.sealsFor(k)
			}
		}
		for i, m := range all {
			m.track(map[string]string{"a": strings.Repeat("x", i+1)})
			m.pin("@", "p")
			m.push(dir)
		}
		before := refsOf(o, dir)
		f.fetch(dir)
		// The note of a store whose id is longer.
		p, _, err := f.Project(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		longer := refAbout + p.Keys(f.Root)[0] + "/" + g.store() + "0"
		o.In(dir, "update-ref", longer, strings.TrimSpace(before[strings.LastIndexByte(before, ' '):]))
		before = refsOf(o, dir)
		would, err := f.CleanRemoteMachine(t.Context(), dir, g.store(), true)
		if err != nil || len(would) == 0 || refsOf(o, dir) != before {
			t.Fatalf("%s: would drop %q, %v", name, would, err)
		}
		for _, machine := range []string{f.store(), "nothing", ""} {
			if dropped, err := f.CleanRemoteMachine(t.Context(), dir, machine, false); err == nil || dropped != nil {
				t.Errorf("%s: %q: dropped %q", name, machine, dropped)
			}
		}
		list, err := f.ListRemote(t.Context(), dir, false)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.CleanRemoteMachine(t.Context(), dir, list[0].Stores[0].Machine, false)
		wantError(t, err, state.ErrAmbiguous)
		dropped, err := f.CleanRemoteMachine(t.Context(), dir, g.store(), false)
		if err != nil || !slices.Equal(slices.Sorted(slices.Values(dropped)), slices.Sorted(slices.Values(would))) {
			t.Errorf("%s: dropped %q, %v, planned %q", name, dropped, err, would)
		}
		if n := strings.Count(before, "\n") - strings.Count(refsOf(o, dir), "\n"); n != len(would) || strings.Count(refsOf(o, dir), g.store()) != 1 || !strings.Contains(refsOf(o, dir), longer) {
			t.Errorf("%s: %d refs have gone:\n%s", name, n, refsOf(o, dir))
		}
		if list, err = f.ListRemote(t.Context(), dir, false); err != nil || len(list) != 1 || len(list[0].Stores) != 2 {
			t.Errorf("%s: the list is %+v, %v", name, list, err)
		}
		g.push(dir)
		if got := strings.Count(refsOf(o, dir), "\n"); got != strings.Count(before, "\n") {
			t.Errorf("%s: %d refs after another push of the machine:\n%s", name, got, refsOf(o, dir))
		}
		o.In(dir, "fsck", "--strict")
	}
}

// TestCleanRemoteRewritten: what a purge has replaced goes from the remote, and the line is pushed again.
func TestCleanRemoteRewritten(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	old := f.track(map[string]string{"a": "secret\n"})
	f.push(dir)
	before := refsOf(o, dir)
	f.removeLines()
	now := f.track(map[string]string{"b": "1\n"})
	err := f.Exclusive(t.Context(), func(l *history.Locked) error {
		return f.RecordReplaced(l, map[object.ID]object.ID{history.IDOf(old): history.IDOf(now)})
	})
	if err != nil {
		t.Fatal(err)
	}
	f.push(dir)
	would := f.cleanRemote(dir, true)
	if len(would) != 1 || !strings.HasPrefix(would[0], "tracks/") || !strings.Contains(refsOf(o, dir), old.ID) {
		t.Fatalf("would drop %q of\n%s", would, before)
	}
	if dropped := f.cleanRemote(dir, false); !slices.Equal(dropped, would) || strings.Contains(refsOf(o, dir), old.ID) {
		t.Errorf("dropped %q, left\n%s", dropped, refsOf(o, dir))
	}
	f.push(dir)
	if refs := refsOf(o, dir); !strings.Contains(refs, "/"+would[0]+" "+now.ID) {
		t.Errorf("the line is not there:\n%s", refs)
	}
	if dropped := f.cleanRemote(dir, false); dropped != nil {
		t.Errorf("dropped %q again", dropped)
	}
}

// TestCleanRemoteAfterARepair: a line of which a repair has lost something here stays on the remote, which may have it
// whole.
func TestCleanRemoteAfterARepair(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	for _, name := range []string{"open", "cut", "sealed"} {
		dir := bareRepository(t, o)
		f := newMachine(t)
		if name == "sealed" {
			f.sealsFor(newKey(t))
		}
		old := f.track(map[string]string{"a": "lost\n"})
		f.pin("@", "gone")
		f.pin("@", "dropped")
		f.push(dir)
		before := refsOf(o, dir)
		for _, pin := range []string{"gone", "dropped"} {
			if err := f.DB.DeleteRef(history.RefPins + pin); err != nil {
				t.Fatal(err)
			}
		}
		f.removeLines()
		f.track(map[string]string{"b": "1\n"})
		now := f.track(map[string]string{"b": "2\n"})
		lost := history.Loss{Kind: "path", Path: "a", Checkpoints: []string{history.CommitOf(now).Parents[0].String()}}
		if name == "cut" {
			lost = history.Loss{Kind: "checkpoint", Checkpoint: lost.Checkpoints[0]}
			if err := f.DB.SetShallow([]object.ID{history.IDOf(now)}); err != nil {
				t.Fatal(err)
			}
		}
		err := f.Exclusive(t.Context(), func(l *history.Locked) error {
			losses := []history.Loss{lost, {Kind: "ref", Ref: history.RefPins + "gone", Checkpoint: "unknown"}}
			replaced := map[object.ID]object.ID{history.IDOf(old): history.IDOf(now)}
			return errors.Join(f.RecordReplaced(l, replaced), f.RecordLosses(l, losses))
		})
		if err != nil {
			t.Fatal(err)
		}
		dropped, err := f.CleanRemote(t.Context(), dir, false)
		if name == "sealed" {
			if !errors.Is(err, errHarmed) || dropped != nil || refsOf(o, dir) != before {
				t.Errorf("%s: dropped %q, %v", name, dropped, err)
			}
			continue
		}
		if refs := refsOf(o, dir); err != nil || len(dropped) > 0 || refs != before {
			t.Errorf("%s: dropped %q, %v, left\n%s", name, dropped, err, refs)
		}
	}
}

// TestCleanRemoteAfterALostSession: the id of a session may end as the second name of a line does.
func TestCleanRemoteAfterALostSession(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	lost := history.LineRef("0f8fad5b-d9cb-469f-a165-70867728950e")
	if err := f.DB.SetRef(lost, history.IDOf(f.track(map[string]string{"a": "1\n"}))); err != nil {
		t.Fatal(err)
	}
	f.push(dir)
	if err := f.DB.DeleteRef(lost); err != nil {
		t.Fatal(err)
	}
	err := f.Exclusive(t.Context(), func(l *history.Locked) error {
		return f.RecordLosses(l, []history.Loss{{Kind: "ref", Ref: lost, Checkpoint: "a later one"}})
	})
	if err != nil {
		t.Fatal(err)
	}
	if dropped := f.cleanRemote(dir, false); dropped != nil {
		t.Errorf("dropped %q", dropped)
	}
}
