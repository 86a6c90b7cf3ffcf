package operation

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/diff"
	"github.com/seed-fb9cbc17/cairn/internal/hunk"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// OnlyHunks narrows changes down to chosen hunks, by their names or the beginnings of these. It
// returns the changes of which something was chosen, with nothing but that. A rename whose move was
// not chosen becomes a change at the path before it. New contents are added to the batch. lister is
// the command that lists the names.
func (r *Operator) OnlyHunks(
	ctx context.Context, batch *odb.Batch, names []string, lister string, changes []diff.FileChange,
) ([]diff.FileChange, error) {
	choice, err := r.newHunkChoice(RevertOptions{Hunks: names})
	if err != nil {
		return nil, err
	}
	choice.lister = lister
	var chosen []diff.FileChange
	for i := range changes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		one, picked, err := choice.only(batch, &changes[i])
		if err != nil {
			return nil, err
		}
		if picked {
			chosen = append(chosen, one)
		}
	}
	return chosen, choice.check()
}

// only returns a change with nothing but its chosen hunks. picked is false where nothing was chosen.
func (h *hunkChoice) only(batch *odb.Batch, c *diff.FileChange) (one diff.FileChange, picked bool, err error) {
	f, err := h.differ.HunksOfRenamed(c, diff.DiffOptions{})
	if err != nil {
		return one, false, err
	}
	var others []hunk.Piece
	moved := true
	for i := range f.Hunks {
		switch {
		case h.hasName(f.Hunks[i].ID):
			picked = true
		case i == 0 && c.From != "":
			moved = false
		default:
			others = append(others, f.Hunks[i])
		}
	}
	one = *c
	if !moved {
		one.Path, one.From, one.Similarity = c.From, "", 0
	}
	if !picked || len(others) == 0 {
		return one, picked, nil
	}
	return one, true, leaveOut(batch, &one, &f, others)
}

// leaveOut takes hunks out of a change. A hunk without lines is the change of the bits, or all of
// the change but a move.
func leaveOut(batch *odb.Batch, c *diff.FileChange, f *diff.FileHunks, others []hunk.Piece) (err error) {
	var edits []linediff.Edit
	for i := range others {
		if others[i].Whole {
			c.NewMode, c.NewPerm = c.OldMode, c.OldPerm
		} else {
			edits = append(edits, others[i].Edit)
		}
	}
	if f.Before == nil && f.After == nil {
		c.NewID = c.OldID
		return nil
	}
	id, err := batch.Add(object.Blob, hunk.TakeBack(f.Before, f.After, edits))
	c.NewID = id.String()
	return err
}
