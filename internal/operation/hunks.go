package operation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/diff"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/hunk"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// LineRange names lines of a file as the range leaves it, numbered from 1, both ends included.
// Path may be absolute, or relative to the root.
type LineRange struct {
	Path     string
	From, To int
}

// minHunkName is the least length of a beginning that stands for the name of a hunk.
const minHunkName = 4

// revertHunks takes chosen hunks of a range back. For each path of theirs it makes a text that
// lacks the hunks. From there on the range is one that changed this text into the text after, and
// is taken back like any other.
func (r *Operator) revertHunks(ctx context.Context, in Range, opt RevertOptions) (*Result, error) {
	target, err := r.Lookup(ctx, in.From)
	if err != nil {
		return nil, err
	}
	to, err := history.StateOf(target)
	if err != nil {
		return nil, err
	}
	var base *state.State // nil = the disk
	if in.To != "" {
		c, err := r.Lookup(ctx, in.To)
		if err != nil {
			return nil, err
		}
		s, err := history.StateOf(c)
		if err != nil {
			return nil, err
		}
		base = &s
	}
	within, err := r.ScopeOf(opt.Paths)
	if err != nil {
		return nil, err
	}
	choice, err := r.newHunkChoice(opt)
	if err != nil {
		return nil, err
	}
	req := opRequest{kind: "revert", target: target.ID, dryRun: opt.DryRun, planID: opt.Plan}
	return r.operate(ctx, req, func(disk *capture.Snapshot) (*plan.Plan, error) {
		from := disk.State()
		if base != nil {
			from = *base
		}
		without, chosen, err := choice.without(ctx, to, from, within)
		if err != nil {
			return nil, err
		}
		changes, err := r.changesOf(ctx, without, from, state.NewPathScope(nil).WithAlone(chosen))
		if err != nil {
			return nil, err
		}
		return r.planTakeBack(ctx, disk, changes, takeBackOptions{policy: opt.policy()})
	})
}

// hunkChoice picks hunks by the beginnings of their names, and lines by their numbers.
type hunkChoice struct {
	differ *diff.Differ
	lister string              // command that lists the names
	names  []string            // as the caller gave them
	found  map[string][]string // the hunks that each name stands for
	lines  map[string][]hunk.Range
	met    map[string]bool // paths of lines that have changes there
}

func (r *Operator) newHunkChoice(opt RevertOptions) (*hunkChoice, error) {
	choice := &hunkChoice{
		differ: &diff.Differ{Store: r.Store}, lister: "cairn diff --hunk-ids FROM TO", names: opt.Hunks, found: make(map[string][]string, len(opt.Hunks)),
		lines: make(map[string][]hunk.Range), met: make(map[string]bool),
	}
	for _, name := range opt.Hunks {
		if len(name) < minHunkName {
			return nil, fmt.Errorf("%w: the hunk %q: want at least %d characters of its name", state.ErrAmbiguous, name, minHunkName)
		}
		choice.found[name] = nil
	}
	for _, l := range opt.Lines {
		path, err := r.Rel(l.Path)
		if err != nil {
			return nil, err
		}
		if l.From < 1 || l.To < l.From {
			return nil, fmt.Errorf("%w: lines %d to %d of %s: want numbers from 1, the lower one first", state.ErrNotFound, l.From, l.To, path)
		}
		choice.lines[path] = append(choice.lines[path], hunk.Range{From: l.From, To: l.To})
	}
	return choice, nil
}

// without returns the state before a range, with the texts after it that lack the chosen hunks, and
// the paths of these, with the directories in the place of files that go. Other paths of the state do
// not matter.
func (h *hunkChoice) without(ctx context.Context, before, after state.State, within *state.PathScope) (state.State, []string, error) {
	changes, err := h.differ.Changes(ctx, before, after, within)
	if err != nil {
		return state.State{}, nil, err
	}
	batch := h.differ.DB.NewBatch()
	defer batch.Discard()
	ends, err := h.pickAll(ctx, batch, changes)
	if err != nil {
		return state.State{}, nil, err
	}
	s, err := WithEnds(h.differ.Store, batch, before, ends)
	if err != nil {
		return state.State{}, nil, err
	}
	chosen := slices.Collect(maps.Keys(ends))
	for path, end := range ends {
		if end.Entry == nil {
			chosen = append(chosen, dirsInPlaceOf(before.Meta, path)...)
		}
	}
	return s, chosen, batch.Commit()
}

// pickAll returns the ends of the paths with chosen hunks, without these.
func (h *hunkChoice) pickAll(ctx context.Context, batch *odb.Batch, changes []history.Change) (map[string]history.PathEnd, error) {
	ends := make(map[string]history.PathEnd)
	for i := range changes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		end, picked, err := h.pick(batch, &changes[i])
		if err == nil && end.Entry != nil {
			if text, ok := h.differ.Unstored[end.Entry.ID]; ok {
				_, err = batch.Add(object.Blob, text)
			}
		}
		if err != nil {
			return nil, err
		}
		if picked {
			ends[changes[i].Path] = end
		}
	}
	return ends, h.check()
}

// pick returns the end of a changed path without its chosen hunks. picked is false for a path of
// which nothing was chosen.
func (h *hunkChoice) pick(batch *odb.Batch, c *history.Change) (end history.PathEnd, picked bool, err error) {
	f, err := h.differ.Hunks(c, diff.DiffOptions{})
	if err != nil || len(f.Hunks) == 0 {
		return end, false, err
	}
	var edits, all []linediff.Edit
	bits, whole := false, 0
	for i := range f.Hunks {
		one := &f.Hunks[i]
		if !one.Whole {
			all = append(all, one.Edit)
		}
		if !h.hasName(one.ID) {
			continue
		}
		if whole++; one.Whole {
			bits = true
		} else {
			edits = append(edits, one.Edit)
		}
	}
	parts := hunk.Within(all, h.lines[c.Path]...)
	h.met[c.Path] = len(parts) > 0
	switch {
	case whole == len(f.Hunks):
		return pathEnd(c.Path, history.OldEntry(c), c.OldPerm), true, nil
	case whole == 0 && len(parts) == 0:
		return end, false, nil
	}
	end = pathEnd(c.Path, history.NewEntry(c), c.NewPerm)
	if end.Entry == nil { // a part of a file that is gone comes back as a file
		end = pathEnd(c.Path, history.OldEntry(c), c.OldPerm)
	}
	if bits {
		end.Entry.Mode, end.Perm = object.Mode(c.OldMode), c.OldPerm
	}
	end.Entry.ID, err = batch.Add(object.Blob, hunk.TakeBack(f.Before, f.After, append(edits, parts...)))
	return end, true, err
}

func pathEnd(path string, e *object.Entry, perm uint16) history.PathEnd {
	if e == nil {
		return history.PathEnd{}
	}
	_, e.Name = index.Split(path)
	return history.PathEnd{Entry: e, Perm: perm}
}

// hasName reports whether a hunk was chosen by its name or by a beginning of it.
func (h *hunkChoice) hasName(id string) (chosen bool) {
	for n := minHunkName; n <= len(id); n++ {
		if ids, ok := h.found[id[:n]]; ok {
			h.found[id[:n]], chosen = append(ids, id), true
		}
	}
	return chosen
}

// check refuses names that no hunk has, or several, and lines without a change.
func (h *hunkChoice) check() error {
	for _, name := range h.names {
		switch ids := h.found[name]; {
		case len(ids) == 0:
			return fmt.Errorf("%w: the hunk %s: %s lists the names", state.ErrNotFound, name, h.lister)
		case len(ids) > 1:
			return fmt.Errorf("%w: %d hunks begin with %s, among them %s and %s", state.ErrAmbiguous, len(ids), name, ids[0], ids[1])
		}
	}
	for path, ranges := range h.lines {
		if !h.met[path] {
			first := slices.MinFunc(ranges, func(a, b hunk.Range) int { return cmp.Compare(a.From, b.From) })
			return fmt.Errorf("%w: no change in %s, lines %d to %d", state.ErrNotFound, path, first.From, first.To)
		}
	}
	return nil
}
