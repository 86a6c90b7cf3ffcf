package cairn_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// Whatever is lost, doctor --fix ends in a store that works, with a list of what went.
func TestV11_LostIsCutOut(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	for name, c := range map[string]struct {
		lose func(w *lostWorld)
		want map[string]int // losses by kind
	}{
		"blob":             {func(w *lostWorld) { w.lose(w.days[1] + ":a") }, map[string]int{"path": 1}},
		"blob of all":      {func(w *lostWorld) { w.write("same", "gone"); w.lose(w.days[1] + ":same") }, map[string]int{"path": 1}},
		"blob alone":       {func(w *lostWorld) { w.lose(w.days[2] + ":only/one") }, map[string]int{"path": 1}},
		"subtree":          {func(w *lostWorld) { w.lose(w.today[1] + ":d") }, map[string]int{"path": 1}},
		"nested":           {func(w *lostWorld) { w.lose(w.line[1]+":d/e", w.line[1]+":d/x") }, map[string]int{"path": 2}},
		"root tree":        {func(w *lostWorld) { w.lose(w.days[2] + "^{tree}") }, map[string]int{"checkpoint": 1, "aside": 1}},
		"root tree first":  {func(w *lostWorld) { w.lose(w.today[0] + "^{tree}") }, map[string]int{"checkpoint": 1}},
		"commit":           {func(w *lostWorld) { w.lose(w.line[2]) }, map[string]int{"checkpoint": 1, "aside": 1}},
		"pinned commit":    {func(w *lostWorld) { w.lose(w.days[1]) }, map[string]int{"checkpoint": 1, "aside": 1, "ref": 1}},
		"tip":              {func(w *lostWorld) { w.lose(w.today[2]) }, map[string]int{"checkpoint": 1, "ref": 1}},
		"tip's tree":       {func(w *lostWorld) { w.lose(w.days[3] + "^{tree}") }, map[string]int{"checkpoint": 1, "ref": 1}},
		"session's tip":    {func(w *lostWorld) { w.lose(w.line[3]) }, map[string]int{"checkpoint": 1, "ref": 1}},
		"session's middle": {func(w *lostWorld) { w.lose(w.line[1]) }, map[string]int{"checkpoint": 1, "aside": 1}},
		"operation":        {func(w *lostWorld) { w.lose("refs/cairn/operations") }, map[string]int{"operation": 1, "ref": 1}},
		"older operation":  {func(w *lostWorld) { w.lose("refs/cairn/operations~1") }, map[string]int{"operation": 1}},
		"operation's state": {func(w *lostWorld) { w.lose("refs/cairn/operations^3") },
			map[string]int{"checkpoint": 1, "operation": 1, "ref": 1}},
		"state of the disk": {func(w *lostWorld) { w.lose("refs/cairn/disk^{tree}") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newLostWorld(t)
			w.unlike()
			c.lose(w)
			w.planned()
			for _, f := range w.check(cairn.CheckOptions{Fix: true}) {
				if !f.Fixed || f.Repair == "" {
					t.Errorf("finding %+v", f)
				}
			}
			losses := w.mended()
			if got := kinds(losses); c.want != nil && !maps.Equal(got, c.want) {
				t.Errorf("losses %v, want %v: %+v", got, c.want, losses)
			}
		})
	}
}

// planned checks what a check without Fix says: what it would do, and it does nothing.
func (w *lostWorld) planned() {
	w.Helper()
	found := w.check(cairn.CheckOptions{})
	if len(found) == 0 {
		w.Error("a check finds nothing")
	}
	for _, f := range found {
		if f.Fixed || f.Repair == "" {
			w.Errorf("finding %+v", f)
		}
	}
	if losses, err := w.repo().Losses(); err != nil || len(losses) > 0 {
		w.Errorf("a check has cut out %v, %v", losses, err)
	}
	w.closeAll()
}

// A damaged object is lost like one that is gone.
func TestV11_DamagedIsCutOut(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*damaged){
		"flipped byte in a pack": func(d *damaged) { d.spoil(d.files("objects/pack/*.pack")[0], flip) },
		"truncated pack":         func(d *damaged) { d.spoil(d.files("objects/pack/*.pack")[1], tear) },
		"pack removed": func(d *damaged) {
			pack := d.files("objects/pack/*.pack")[0]
			os.Remove(pack)
			os.Remove(strings.TrimSuffix(pack, "pack") + "idx")
		},
		"pack without its index": func(d *damaged) { os.Remove(d.files("objects/pack/*.pack")[2]) },
		"all packs removed": func(d *damaged) {
			for _, path := range d.files("objects/pack/*") {
				os.Remove(path)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDamaged(t)
			d.write("a", "something else")
			spoil(d)
			found, err := d.repo().Check(background, cairn.CheckOptions{Fix: true})
			if err != nil || len(found) == 0 || slices.ContainsFunc(found, func(f cairn.Fault) bool { return !f.Fixed }) {
				t.Errorf("mending: %+v, %v", found, err)
			}
			d.closeAll()
			if found, err := d.repo().Check(background, cairn.CheckOptions{Fix: true}); err != nil || len(found) > 0 {
				t.Errorf("a second mending: %+v, %v", found, err)
			}
			d.sound()
			d.write("a", "later")
			d.trackAll()
			d.clean(cairn.CleanOptions{Thorough: true})
		})
	}
}
