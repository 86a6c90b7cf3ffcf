package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/retention"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
	"github.com/seed-fb9cbc17/cairn/internal/thinned"
)

// thinnedPatient is a store with a thinned session.
type thinnedPatient struct {
	*patient
	now  time.Time
	all  []string          // checkpoints of the session, oldest first
	kept map[string]string // contents of those with states
}

const thinnedLine = history.RefSessions + "s"

func newThinned(t *testing.T) *thinnedPatient {
	p := &thinnedPatient{patient: newPatient(t), now: time.Date(2026, 5, 5, 12, 0, 0, 0, time.UTC), kept: make(map[string]string)}
	p.Now = func() time.Time { return p.now }
	end := p.now
	for i := range 12 {
		p.now = end.Add(-time.Duration(12-i) * 8 * time.Hour)
		c := statetest.AppendLine(p, p.Store, thinnedLine, statetest.NewStateOf(p, p.Store, files{"a": whole(fmt.Sprint(i))}), nil)
		p.all = append(p.all, c.ID)
	}
	p.now = end
	p.thin()
	for i, id := range p.all {
		if _, err := p.Lookup(t.Context(), id); err == nil {
			p.kept[id] = fmt.Sprint(i)
		} else if !errors.Is(err, history.ErrThinned) {
			t.Fatal(err)
		}
	}
	if len(p.kept) < 4 || len(p.kept) == len(p.all) {
		t.Fatalf("%d of %d have states", len(p.kept), len(p.all))
	}
	return p
}

// thin cleans by the rules of the test.
func (p *thinnedPatient) thin() *retention.CleanResult {
	p.Helper()
	c := &retention.Cleaner{Store: p.Store, RenamePacks: func(*history.Locked, []string, []string) error { return nil }}
	got, err := c.Clean(context.Background(), retention.CleanOptions{Thorough: true, Retention: settings.Retention{
		KeepLast: settings.NoLimit, MaxBytes: settings.NoLimit, Keep: settings.Keep{All: time.Minute, Daily: 90 * 24 * time.Hour},
	}})
	if err != nil {
		p.Fatal(err)
	}
	return got
}

// logged lists the checkpoints of the log, oldest first.
func (p *thinnedPatient) logged() (ids []string) {
	p.Helper()
	for c, err := range p.Checkpoints(context.Background()) {
		if err != nil {
			p.Fatal(err)
		}
		ids = append(ids, c.ID)
	}
	slices.Reverse(ids)
	return ids
}

// wholeLine checks that a reader of the line finds every checkpoint.
func (p *thinnedPatient) wholeLine() {
	p.Helper()
	tip, err := p.DB.Ref(thinnedLine)
	if err != nil {
		p.Fatal(err)
	}
	n := 0
	for _, err := range p.Line(context.Background(), tip.String()) {
		if n++; err != nil {
			p.Errorf("checkpoint %d of the line: %v", n, err)
		}
	}
	if n != len(p.all) {
		p.Errorf("the line has %d checkpoints, want %d", n, len(p.all))
	}
}

// sound checks that all kept states are there but some, in the log, and that nothing is wrong.
func (p *thinnedPatient) sound(lost ...string) {
	p.Helper()
	gittest.NewOracle(p).Fsck(p.DB.Dir())
	if found := p.check(CheckOptions{}); len(found) > 0 {
		p.Errorf("doctor says %+v", found)
	}
	log := p.logged()
	for id, content := range p.kept {
		if slices.Contains(lost, id) {
			continue
		}
		if got := statetest.Contents(p, p.Store, id); got["a"] != content {
			p.Errorf("%s holds %v, want %q", id, got, content)
		}
		if !slices.Contains(log, id) {
			p.Errorf("the log lacks %s", id)
		}
	}
}

// lose removes an object from the store.
func (p *thinnedPatient) lose(id object.ID) {
	p.Helper()
	o, dir := gittest.NewOracle(p), p.DB.Dir()
	packs, err := filepath.Glob(filepath.Join(dir, "objects/pack/*"))
	if err != nil {
		p.Fatal(err)
	}
	aside := p.TempDir()
	for _, pack := range packs {
		to := filepath.Join(aside, filepath.Base(pack))
		if err := os.Rename(pack, to); err != nil {
			p.Fatal(err)
		}
		if strings.HasSuffix(to, ".pack") {
			data, err := os.ReadFile(to)
			if err != nil {
				p.Fatal(err)
			}
			o.Feed(dir, string(data), "unpack-objects", "-q")
		}
	}
	name := id.String()
	if err := os.Remove(filepath.Join(dir, "objects", name[:2], name[2:])); err != nil {
		p.Fatal(err)
	}
	p.Store.DB.Close()
	store := statetest.Reopen(p, p.Store)
	p.Cleanup(func() { store.DB.Close() })
	store.Now = p.Now
	p.patient = patientOf(p.TB, store)
}

func TestThinnedStoreIsSound(t *testing.T) {
	t.Parallel()
	p := newThinned(t)
	p.sound()
	if got := p.thin(); got.Thinned != 0 {
		t.Errorf("%+v", got)
	}
}

// A list that cannot be found or read loses no kept checkpoint: a cleaning drops nothing, and a repair
// finds them all.
func TestDamagedListOfThinned(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		damage func(p *thinnedPatient, list *thinned.Table) (lost []string)
		whole  bool // afterwards the line is as long as before
	}{
		{name: "torn ref", whole: true, damage: func(p *thinnedPatient, _ *thinned.Table) []string {
			file := filepath.Join(p.DB.Dir(), filepath.FromSlash(thinned.Ref))
			if err := os.WriteFile(file, bytes.Repeat([]byte{0}, 41), 0o600); err != nil {
				p.Fatal(err)
			}
			return nil
		}},
		{name: "commit", damage: func(p *thinnedPatient, list *thinned.Table) []string { p.lose(list.ID()); return nil }},
		{name: "tree", damage: func(p *thinnedPatient, list *thinned.Table) []string { p.lose(list.Tree()); return nil }},
		{name: "record", damage: func(p *thinnedPatient, list *thinned.Table) []string {
			_, c, err := p.DB.Read(list.Tree())
			if err != nil {
				p.Fatal(err)
			}
			dirs, err := object.ParseTree(c)
			if err != nil {
				p.Fatal(err)
			}
			_, c, err = p.DB.Read(dirs[0].ID)
			if err != nil {
				p.Fatal(err)
			}
			records, err := object.ParseTree(c)
			if err != nil {
				p.Fatal(err)
			}
			p.lose(records[0].ID)
			return nil
		}},
		{name: "kept commit", damage: func(p *thinnedPatient, list *thinned.Table) []string {
			id := list.Kept()[0]
			p.lose(id)
			return []string{id.String()}
		}},
		{name: "contents of a kept commit", whole: true, damage: func(p *thinnedPatient, list *thinned.Table) []string {
			id := list.Kept()[0].String()
			p.lose(object.Sum(object.Blob, []byte(p.kept[id])))
			return []string{id}
		}},
		{name: "shallow file", whole: true, damage: func(p *thinnedPatient, _ *thinned.Table) []string {
			if err := os.WriteFile(filepath.Join(p.DB.Dir(), "shallow"), []byte("nonsense\n"), 0o600); err != nil {
				p.Fatal(err)
			}
			return nil
		}},
		{name: "no shallow file", whole: true, damage: func(p *thinnedPatient, _ *thinned.Table) []string {
			if err := os.Remove(filepath.Join(p.DB.Dir(), "shallow")); err != nil {
				p.Fatal(err)
			}
			return nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newThinned(t)
			length := len(p.logged())
			lost := c.damage(p, p.ThinnedTable())
			p.thin() // drops nothing that a repair needs
			if found := p.check(CheckOptions{Fix: true}); len(found) == 0 && !strings.Contains(c.name, "shallow") {
				t.Error("doctor finds nothing") // a cleaning has repaired the shallow file
			}
			p.sound(lost...)
			p.thin()
			p.sound(lost...)
			if n := len(p.logged()); c.whole && n != length {
				t.Errorf("the log has %d checkpoints, want %d", n, length)
			}
			if c.whole {
				p.wholeLine()
			}
		})
	}
}
