package transfer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/identity"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// incoming is the result of a fetch after the audit.
type incoming struct {
	lines    []incomingLine
	machines map[string]history.Machine

	signatures []odb.Ref // lists of signed statements, under their names here

	audit   *audit
	commits map[object.ID]bool // checked
	trees   []object.ID        // of these
	trusted map[object.ID]bool // that refs of this store lead to
	ends    odb.Ends           // where lines end on the remote: what came before has been cleaned away there
	cut     []object.ID        // those of the ends that came
}

type incomingLine struct {
	name    string // <store id>/<line>
	id      object.ID
	forward bool // a descendant of the line's old value
}

// judgeIncoming audits what came. mine says that the remote has sealed lines of this store itself, which do not come.
func (r *Transport) judgeIncoming(ctx context.Context, q *odb.Quarantine, want *wanted, own string, mine bool) (*incoming, error) {
	refs, err := q.Refs(RefIncoming)
	if err != nil {
		return nil, err
	}
	if len(refs) == 0 && !mine {
		return nil, state.NotFound("no checkpoint of this project there (cairn fetch --list --all shows what is there)")
	}
	in := &incoming{audit: newAudit(q), commits: make(map[object.ID]bool), ends: q.Ends()}
	if in.machines, err = r.machinesOf(q); err != nil {
		return nil, err
	}
	if in.signatures, err = r.signaturesOf(q, want, own); err != nil {
		return nil, err
	}
	if in.trusted, err = r.trusted(ctx); err != nil {
		return nil, err
	}
	found := make(map[string]incomingLine) // of a line that a store has pushed under two keys, the last one counts
	for _, ref := range byKey(refs) {
		key, name, _ := strings.Cut(strings.TrimPrefix(ref.Name, RefIncoming), "/")
		store, line, ok := strings.Cut(name, "/")
		if ref.Err != nil {
			return nil, fmt.Errorf("line %s: %w", name, foreign(ref.Err))
		}
		if !ok || line == "" || !identity.IsKey(key) || !isStoreID(store) {
			return nil, fmt.Errorf("line %s: no store of cairn has such a line", name)
		}
		if want.only != nil && !want.only(store, line) {
			continue
		}
		old, err := r.DB.Ref(history.RefRemotes + name)
		if err == nil && old == ref.ID {
			delete(found, name)
			continue
		}
		met, err := in.judge(ctx, ref.ID, old)
		if err == nil && !met && in.trusted[old] {
			met, err = r.parentsWith(in).leadTo(ctx, ref.ID, old)
		}
		if err != nil {
			return nil, fmt.Errorf("line %s: %w", name, err)
		}
		if store == own { // lines of this store itself are not taken; their objects were audited like the others
			continue
		}
		found[name] = incomingLine{name, ref.ID, met || old.IsZero() || strings.HasPrefix(line, "pins/")}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		in.lines = append(in.lines, found[name])
	}
	return in, nil
}

// byKey puts refs under keys that were made from paths first.
func byKey(refs []odb.Ref) []odb.Ref {
	old := func(ref odb.Ref) bool {
		key, _, _ := strings.Cut(strings.TrimPrefix(ref.Name, RefIncoming), "/")
		return identity.ByPath(key)
	}
	slices.SortStableFunc(refs, func(a, b odb.Ref) int {
		switch x, y := old(a), old(b); {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	})
	return refs
}

// machinesOf reads the notes that came. A note that cannot be read is logged: the lines count.
func (r *Transport) machinesOf(q *odb.Quarantine) (map[string]history.Machine, error) {
	notes, err := aboutRefs(q)
	if err != nil {
		return nil, err
	}
	machines := make(map[string]history.Machine)
	for _, note := range notes {
		a, err := readAbout(q, note.id)
		if err != nil {
			r.Log.Warn("note of a store left out", "store", note.store, "error", err)
			continue
		}
		machines[note.store] = history.Machine{Machine: a.Machine, User: a.User, Root: a.Root}
	}
	return machines, nil
}

// judge audits a commit and its ancestors, up to those that are trusted and to the ends of lines, and reports
// whether it met old. It does not look behind trusted ones, such as those of a line that went on here.
func (in *incoming) judge(ctx context.Context, tip, old object.ID) (met bool, err error) {
	seen := map[object.ID]bool{tip: true}
	for queue := []object.ID{tip}; len(queue) > 0; {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		met = met || id == old
		if in.trusted[id] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		var c *object.CommitData
		if in.commits[id] {
			if c, err = in.reread(id); err != nil {
				return false, err
			}
		} else if c, err = in.audit.checkpoint(id); err != nil {
			return false, err
		} else {
			in.trees = append(in.trees, c.Tree)
		}
		in.commits[id] = true
		if in.endsHere(id, c.Parents) {
			in.cut = append(in.cut, id)
			continue
		}
		for _, parent := range c.Parents {
			if !seen[parent] {
				seen[parent] = true
				queue = append(queue, parent)
			}
		}
	}
	return met, nil
}

// parentsWith reads the parents of commits that are here or that came.
func (r *Transport) parentsWith(in *incoming) parentsOf {
	return func(id object.ID) ([]object.ID, error) {
		if !in.trusted[id] {
			c, err := in.reread(id)
			if err != nil {
				return nil, err
			}
			return c.Parents, nil
		}
		c, err := r.ReadCheckpoint(id)
		if err != nil {
			return nil, err
		}
		return history.CommitOf(c).Parents, nil
	}
}

// endsHere reports whether a line ends at a commit on the remote, and goes no further here either.
func (in *incoming) endsHere(id object.ID, parents []object.ID) bool {
	return in.ends.Has(id) && slices.ContainsFunc(parents, func(parent object.ID) bool { return !in.trusted[parent] })
}

func (in *incoming) reread(id object.ID) (*object.CommitData, error) {
	data, err := in.audit.read(object.Commit, id)
	if err != nil {
		return nil, err
	}
	return object.ParseCommit(data)
}

// trusted returns every commit that is reachable from a ref of this store.
func (r *Transport) trusted(ctx context.Context) (map[object.ID]bool, error) {
	refs, err := r.DB.Refs(history.RefRoot)
	if err != nil {
		return nil, err
	}
	known := make(map[object.ID]bool)
	var queue []object.ID
	for _, ref := range refs {
		if ref.Err == nil && ref.Name != history.RefDisk {
			queue = append(queue, ref.ID)
		}
	}
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if known[id] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c, err := r.ReadCheckpoint(id); err == nil {
			known[id] = true
			queue = append(queue, history.CommitOf(c).Parents...)
		}
	}
	return known, nil
}

// adoptIncoming sets the refs of the audited lines. Their objects are in the store now, unless a
// cleaning has removed some that the store had before.
func (r *Transport) adoptIncoming(l *history.Locked, in *incoming) (fetched []string, err error) {
	r.Holds(l)
	if err := r.hasAll(in); err != nil {
		return nil, err
	}
	if err := r.endAt(in.cut); err != nil {
		return nil, err
	}
	for _, line := range in.lines {
		ref := history.RefRemotes + line.name
		if old, err := r.DB.Ref(ref); err == nil && !line.forward {
			// The other store has begun its line again: the old value stays under another name.
			if err := r.DB.SetRef(ref+"-"+old.String()[:history.BeginningDigits], old); err != nil {
				return fetched, err
			}
		}
		if err := r.DB.SetRef(ref, line.id); err != nil {
			return fetched, err
		}
		fetched = append(fetched, line.name)
	}
	return fetched, nil
}

// endAt notes commits without what came before them, as a cleaning does.
func (r *Transport) endAt(cut []object.ID) error {
	if len(cut) == 0 {
		return nil
	}
	ends, err := r.DB.Shallow()
	if err != nil {
		return err
	}
	return r.DB.SetShallow(append(ends, cut...))
}

func (r *Transport) hasAll(in *incoming) error {
	holds := func(id object.ID) error {
		ok, err := r.DB.Has(id)
		if err == nil && !ok {
			err = fmt.Errorf("object %s has gone meanwhile (fetch again)", id)
		}
		return err
	}
	for id := range in.commits {
		if err := holds(id); err != nil {
			return err
		}
	}
	for id := range in.audit.trees {
		if err := holds(id); err != nil {
			return err
		}
	}
	for id := range in.audit.blobs {
		if err := holds(id); err != nil {
			return err
		}
	}
	return nil
}
