package operation

import (
	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
)

// changeOnDisk returns what a planned change does to a file, nil for a directory and for a file
// whose present contents the store does not hold.
func changeOnDisk(c *apply.Change) *history.Change {
	if c.Mode == object.Dir || c.Was != nil && (c.Was.Mode == object.Dir || c.Was.ID.IsZero()) {
		return nil
	}
	var before, after history.PathEnd
	if c.Was != nil {
		before = history.PathEnd{Entry: &object.Entry{Mode: c.Was.Mode, ID: c.Was.ID}, Perm: c.Was.Perm}
	}
	switch {
	case c.Action.Removes():
	case c.Action == apply.Create || c.Action == apply.Modify:
		after = history.PathEnd{Entry: &object.Entry{Mode: c.Mode, ID: c.ID}, Perm: c.Perm}
	case before.Entry != nil:
		after = history.PathEnd{Entry: &object.Entry{Mode: c.Mode, ID: before.Entry.ID}, Perm: c.Perm}
	}
	if before.Entry == nil && after.Entry == nil {
		return nil
	}
	change := history.ChangeBetween(c.Path, before, after)
	return &change
}

// storeMerged stores the texts that a plan has merged, so that a caller of a dry run can compare
// them.
func (r *Operator) storeMerged(p *plan.Plan) error {
	if len(p.Merged) == 0 {
		return nil
	}
	batch := r.NewBatch(capture.ForWayBack)
	defer batch.Discard()
	for _, content := range p.Merged {
		if _, err := batch.Add(object.Blob, content); err != nil {
			return err
		}
	}
	return batch.Commit()
}
