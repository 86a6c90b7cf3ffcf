package repair

import (
	"context"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/fsck"
)

// isObjectFault reports whether a finding is about a damaged or missing object.
func isObjectFault(f *Fault) bool {
	return f.ID != "" && (f.Kind == string(fsck.FaultMissing) || f.Kind == string(fsck.FaultObject))
}

// mend brings lost objects back, or cuts them out. Without Fix it only finds out what would be
// done. The store is not locked while another repository is fetched from.
func (c *checker) mend(ctx context.Context) error {
	if len(c.bad) == 0 && len(c.torn) == 0 {
		return nil
	}
	places, err := c.repo.places(ctx, c.opt)
	defer closePlaces(places)
	if err != nil {
		return err
	}
	m := newMender(c.repo, c.bad)
	m.torn = c.torn
	run := func(l *history.Locked) error { return m.run(ctx, l, places) }
	if c.opt.Fix {
		err = c.repo.Locked(ctx, run)
	} else {
		err = run(nil)
	}
	if err == nil {
		c.recordRepairs(m)
	}
	return err
}

// recordRepairs notes in the findings how each object was repaired, and adds the losses.
func (c *checker) recordRepairs(m *mender) {
	told := make(map[string]bool)
	for i := range c.found {
		f := &c.found[i]
		if !isObjectFault(f) {
			continue
		}
		told[f.ID] = true
		id, err := object.ParseID(f.ID)
		if err != nil {
			continue
		}
		_, lost := m.lost[id]
		switch {
		case m.back[id] != "":
			f.Repair = "bring it back from " + m.back[id]
		case lost:
			f.Repair = "cut it out of the history"
		case f.Repair == "":
			f.Repair = "nothing needs it"
		default:
			continue // a damaged file is set aside, and the object has another copy
		}
		f.Fixed = c.opt.Fix
	}
	for _, id := range slices.SortedFunc(maps.Keys(m.back), func(a, b object.ID) int { return slices.Compare(a[:], b[:]) }) {
		if !told[id.String()] {
			c.note(Fault{Kind: string(fsck.FaultMissing), ID: id.String(), Text: "object " + id.String() + " is missing",
				Repair: "bring it back from " + m.back[id], Fixed: c.opt.Fix}, nil)
		}
	}
	for _, l := range m.gone {
		f := Fault{Kind: "lost", Ref: l.Ref, ID: l.Checkpoint, Text: l.Text, Repair: lossRepair[l.Kind], Fixed: c.opt.Fix}
		c.note(f, nil)
	}
}

// lossRepair names the repair of each kind of Loss.
var lossRepair = map[string]string{
	"path":       "note the path as not captured there",
	"checkpoint": "cut the line there",
	"operation":  "take it out of the list of operations",
	"ref":        "move or drop the ref",
	"aside":      "set the older part aside",
}
