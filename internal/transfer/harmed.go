package transfer

import (
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// harmed is what repairs of this store have lost. A remote may have it whole, so no cleaning drops it there.
type harmed struct {
	lines   map[string]bool    // refs
	commits map[object.ID]bool // that were removed, or are without a path, by their ids of then and of now
}

func (r *Transport) harmed() (*harmed, error) {
	losses, err := r.Losses()
	if err != nil || len(losses) == 0 {
		return nil, err
	}
	h := &harmed{make(map[string]bool), make(map[object.ID]bool)}
	replaced := r.ReadReplaced()
	for _, l := range losses {
		if l.Ref != "" {
			h.lines[l.Ref] = true
		}
		for _, text := range append(slices.Clone(l.Checkpoints), l.Checkpoint) {
			if id, err := object.ParseID(text); err == nil {
				h.commits[id] = true
				if now, ok := replaced[id]; ok {
					h.commits[now] = true
				}
			}
		}
	}
	return h, nil
}

// splitHarmed separates the lines of which a repair has lost something here.
func (r *Transport) splitHarmed(refs []thereRef) (sound, lost []thereRef, err error) {
	h, err := r.harmed()
	if err != nil || h == nil {
		return refs, nil, err
	}
	replaced := r.ReadReplaced()
	for _, ref := range refs {
		id, _ := object.ParseID(ref.id)
		if now, ok := replaced[id]; ok {
			id = now
		}
		if h.lines[history.RefRoot+ref.name] || h.lines[history.RefRoot+history.FirstName(ref.name)] || r.leadsTo(id, h.commits) {
			lost = append(lost, ref)
		} else {
			sound = append(sound, ref)
		}
	}
	return sound, lost, nil
}

// leadsTo reports whether a line that ends with a commit has one of a set, or begins after one.
func (r *Transport) leadsTo(id object.ID, set map[object.ID]bool) bool {
	for !set[id] {
		c, err := r.ReadCheckpoint(id)
		if err != nil {
			return false
		}
		parents := history.CommitOf(c).Parents
		if len(parents) == 0 {
			return r.beginsAfter(id, set)
		}
		id = parents[0]
	}
	return true
}

// beginsAfter reports whether the first commit of a line names one of a set as its parent.
func (r *Transport) beginsAfter(id object.ID, set map[object.ID]bool) bool {
	_, data, err := r.DB.Read(id)
	if err != nil {
		return false
	}
	c, err := object.ParseCommit(data)
	return err == nil && len(c.Parents) > 0 && set[c.Parents[0]]
}
