package takenback

import (
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/diff"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/hunk"
)

// Hunks lists the names of those hunks of a change that operations, the oldest first, have taken back.
// A hunk of which some lines are left is not among them.
func (b *Back) Hunks(c history.Change, d *diff.FileDiff, operations []Change) (names []string, err error) {
	if len(d.Hunks) == 0 || len(operations) == 0 {
		return nil, nil
	}
	lines := slices.ContainsFunc(d.Hunks, func(h hunk.Hunk) bool { return !h.Whole })
	if lines {
		b.Made[c.OldID], b.Made[c.NewID] = []byte(d.Before), []byte(d.After) // no capture has to hold them
	}
	left, err := b.Left(c, operations)
	if err != nil {
		return nil, err
	}
	for i := range d.Hunks {
		if h := &d.Hunks[i]; h.Whole && wholeIsBack(c, left, lines) {
			names = append(names, h.ID)
		}
	}
	if lines {
		names = append(names, linesBack(c.Path, d, b.Made[left.NewID])...)
	}
	return names, nil
}

// wholeIsBack reports whether a hunk without lines, of a mode or of a binary file, has been taken back.
// bits: there are hunks of lines beside it, so it is one of the mode.
func wholeIsBack(c, left history.Change, bits bool) bool {
	if bits {
		return c.OldMode != c.NewMode && left.OldMode == left.NewMode
	}
	return left.OldID == left.NewID && left.OldMode == left.NewMode && (c.OldID != c.NewID || c.OldMode != c.NewMode)
}

// linesBack lists the hunks of which no line is left in the text after a change.
func linesBack(path string, d *diff.FileDiff, left []byte) (names []string) {
	known := make(map[string]bool)
	for i := range d.Hunks {
		known[d.Hunks[i].ID] = true
	}
	stands := make(map[string]bool)
	var parts []hunk.Piece // of hunks whose other lines are back
	for _, p := range hunk.Of(path, []byte(d.Before), left) {
		if stands[p.ID] = true; !known[p.ID] {
			parts = append(parts, p)
		}
	}
	for _, p := range hunk.Of(path, []byte(d.Before), []byte(d.After)) {
		cut := slices.ContainsFunc(parts, func(o hunk.Piece) bool { return o.Edit.A0 <= p.Edit.A1 && p.Edit.A0 <= o.Edit.A1 })
		if !stands[p.ID] && !cut {
			names = append(names, p.ID)
		}
	}
	return names
}
