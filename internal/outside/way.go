package outside

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// Way is what happened to paths between two times, for instance in a step.
type Way struct{ before, after map[string]Entry }

// ReadWay joins the records of a step, oldest first: the first state before and the last state after
// count. Records that this store does not have are passed over.
func ReadWay(s *history.Store, records []string) (*Way, error) {
	w := &Way{before: make(map[string]Entry), after: make(map[string]Entry)}
	for _, id := range records {
		if id == "" {
			continue
		}
		r, err := Read(s, id)
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		for _, e := range r.Before {
			if _, known := w.before[string(e.Path)]; !known {
				w.before[string(e.Path)] = e
			}
		}
		for _, e := range r.After {
			w.after[string(e.Path)] = e
		}
	}
	return w, nil
}

func (w *Way) paths() []string { return slices.Sorted(maps.Keys(w.before)) }

// Before lists how the paths were at the beginning.
func (w *Way) Before() []Entry {
	var list []Entry
	for _, path := range w.paths() {
		list = append(list, w.before[path])
	}
	return list
}

// Policy decides about paths that have changed since.
type Policy int

// The policies.
const (
	Refuse    Policy = iota // a conflict: the path stays
	Keep                    // the path stays
	Overwrite               // the later change is saved and dropped
)

// Step is one change of a plan.
type Step struct {
	Top    string // of the path's file system
	Change apply.Change
	Before Entry
	After  Entry
}

// Plan is a way back of paths.
type Plan struct {
	Steps     []Step
	Kept      []state.PathReason
	Conflicts []state.PathReason
	contents  [][]byte // that are replaced
}

// Make plans to take ways back, the newest first. Paths of no way are not touched. A path goes back as far
// as each way ends where the one after it began.
func (k Keeper) Make(ways []*Way, policy Policy) (*Plan, error) {
	p := &Plan{}
	all := make(map[string]bool)
	for _, w := range ways {
		for path := range w.before {
			all[path] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		now := readSight(path, maxReplaced)
		want, why := wanted(ways, path, &now, policy)
		if err := p.add(k.Store.DB, &now, want, why, policy); err != nil {
			return nil, err
		}
	}
	return p, nil
}

const (
	reasonChanged = "changed since"
	reasonUnknown = "not known how the step left it"
)

// Overwritable reports whether Overwrite would take a path back that stays for a reason.
func Overwritable(reason string) bool { return reason == reasonChanged || reason == reasonUnknown }

// wanted is how a path is to be, nil if it stays, and why it does not go back further.
func wanted(ways []*Way, path string, now *sight, policy Policy) (want *Entry, why string) {
	at := now.Entry
	for _, w := range ways {
		before, named := w.before[path]
		after, ended := w.after[path]
		switch {
		case !named || ended && before.same(&after) || at.same(&before):
			continue
		case before.Left != "":
			return nil, "" // it is listed as not taken back
		case ended && at.same(&after) || policy == Overwrite:
			at, want = before, &before
		case now.Left != "":
			return nil, now.Left
		case !ended:
			return nil, reasonUnknown
		default:
			return nil, reasonChanged
		}
	}
	return want, ""
}

// add plans the change of a path.
func (p *Plan) add(db *odb.DB, now *sight, want *Entry, why string, policy Policy) error {
	switch {
	case why != "" && policy == Keep:
		p.Kept = append(p.Kept, state.PathReason{Path: now.Path, Reason: why})
		return nil
	case why == "" && (want == nil || now.same(want)):
		return nil
	case why == "":
		var err error
		if why, err = p.refused(db, now, want); err != nil {
			return err
		}
	}
	if why != "" {
		p.Conflicts = append(p.Conflicts, state.PathReason{Path: now.Path, Reason: why})
		return nil
	}
	top, rel := split(string(now.Path))
	s := Step{Top: top, Before: now.Entry, After: *want, Change: apply.Change{Path: rel, Mode: want.Mode, Perm: uint16(want.Perm)}}
	s.Change.Action = action(now, want)
	if want.ID != "" {
		s.Change.ID, _ = object.ParseID(want.ID) // refused has parsed it
	}
	if now.Mode != 0 {
		id, err := object.ParseID(now.ID)
		if err != nil {
			return err
		}
		s.Change.Was = &dir.State{Mode: now.Mode, Perm: uint16(now.Perm), Stat: now.stat, ID: id}
		p.contents = append(p.contents, now.content)
	}
	p.Steps = append(p.Steps, s)
	return nil
}

func action(now *sight, want *Entry) apply.Action {
	switch {
	case want.Mode == 0:
		return apply.Delete
	case now.Mode == 0:
		return apply.Create
	case now.ID == want.ID && now.Mode.IsFile() && want.Mode.IsFile():
		return apply.Chmod
	}
	return apply.Modify
}

// refused is why a path cannot go back, "" if it can.
func (p *Plan) refused(db *odb.DB, now *sight, want *Entry) (string, error) {
	switch {
	case now.Left != "":
		return now.Left, nil
	case now.alone && want.Mode != 0:
		return "its directory is gone", nil
	case now.Mode.IsFile() && holdsKey(now.content):
		return leftKey + ", and is not saved for that", nil
	case want.Mode == 0:
		return "", nil
	}
	id, err := object.ParseID(want.ID)
	if err != nil {
		return "", fmt.Errorf("%w: %s: %w", state.ErrCorrupt, string(want.Path), err)
	}
	held, err := db.Has(id)
	if err == nil && !held {
		return "its contents are not in the store any more", nil
	}
	return "", err
}

// None reports whether a plan changes nothing.
func (p *Plan) None() bool { return p == nil || len(p.Steps) == 0 }

// ByTop splits steps into those below a top and the others.
func ByTop(steps []Step, top string) (here, others []Step) {
	for _, s := range steps {
		if s.Top == top {
			here = append(here, s)
		} else {
			others = append(others, s)
		}
	}
	return here, others
}

// ID is a checksum of what a plan does.
func (p *Plan) ID() string {
	h := sha256.New()
	for _, s := range p.Steps {
		fmt.Fprintf(h, "%s %q", s.Change.Action, string(s.Before.Path))
		for _, e := range []Entry{s.Before, s.After} {
			fmt.Fprintf(h, " %o %o %q", e.Mode, uint32(e.Perm), e.ID)
		}
		fmt.Fprintln(h)
	}
	for _, list := range [][]state.PathReason{p.Kept, p.Conflicts} {
		for _, r := range list {
			fmt.Fprintf(h, "%q %q\n", string(r.Path), r.Reason)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Save adds what a plan replaces to a batch, with a record of what it does.
func (p *Plan) Save(db *odb.DB, batch *odb.Batch) (odb.RefUpdate, error) {
	for _, content := range p.contents {
		if _, err := batch.Add(object.Blob, content); err != nil {
			return odb.RefUpdate{}, err
		}
	}
	return Add(db, batch, RecordOf(p.Steps))
}

// RecordOf is the record of steps that were carried out.
func RecordOf(steps []Step) Record {
	var r Record
	for _, s := range steps {
		r.Before, r.After = append(r.Before, s.Before), append(r.After, s.After)
	}
	return r
}
