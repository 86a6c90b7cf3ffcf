package search

import (
	"context"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Deleted yields files of checkpoints with lines that match and that no file of the tree now has,
// the newest checkpoint first. Each line of a path is told once, by the newest checkpoint that has
// it. A binary file is told where the path is gone.
func Deleted(ctx context.Context, store *history.Store, now object.ID, scope *state.PathScope, p *Pattern) iter.Seq2[*File, error] {
	return func(yield func(*File, error) bool) {
		d := &deleted{
			ctx: ctx, store: store, now: now, scope: scope, pattern: p, there: make(map[string]bool),
			known: make(map[place]bool), told: make(map[place]bool),
		}
		for f, err := range In(ctx, store, now, nil, p, false) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, i := range f.Matches {
				d.there[string(f.Lines[i])] = true
			}
		}
		newer := now
		for c, err := range store.Checkpoints(ctx) {
			goOn := false
			if err == nil {
				goOn, err = d.checkpoint(c, newer, yield)
				newer = history.TreeOf(c)
			}
			if err != nil {
				yield(nil, err)
			}
			if err != nil || !goOn {
				return
			}
		}
	}
}

// deleted is one search.
type deleted struct {
	ctx     context.Context
	store   *history.Store
	now     object.ID
	scope   *state.PathScope
	pattern *Pattern
	there   map[string]bool // lines that are on disk
	known   map[place]bool  // contents that were searched
	told    map[place]bool  // lines, "" for a binary file
}

// place is a text, or the id of a content, at a path.
type place struct{ path, text string }

// checkpoint searches the files in which a checkpoint differs from the tree of a newer one. It returns
// false if the caller wants no more.
func (d *deleted) checkpoint(c *history.Checkpoint, newer object.ID, yield func(*File, error) bool) (bool, error) {
	for change, err := range d.store.CompareTrees(d.ctx, newer, history.TreeOf(c), d.scope) {
		if err != nil {
			return false, err
		}
		e := change.New
		if e == nil || !e.Mode.IsFile() || d.known[place{change.Path, string(e.ID[:])}] {
			continue
		}
		d.known[place{change.Path, string(e.ID[:])}] = true
		f, err := searched(d.store, change.Path, e, func(line []byte) bool { return d.pattern.Match(line) && !d.there[string(line)] })
		if err == nil && f != nil {
			err = d.onlyNew(f)
		}
		if err != nil {
			return false, err
		}
		if f == nil || len(f.Matches) == 0 {
			continue
		}
		f.Checkpoint = c
		if !yield(f, nil) {
			return false, nil
		}
	}
	return true, nil
}

// onlyNew drops the lines that were told.
func (d *deleted) onlyNew(f *File) error {
	if f.Binary {
		e, err := d.store.EntryOrNil(d.now, f.Path)
		if e != nil || d.told[place{path: f.Path}] {
			f.Matches = nil
		}
		d.told[place{path: f.Path}] = true
		return err
	}
	fresh := f.Matches[:0]
	for _, i := range f.Matches {
		line := place{f.Path, string(f.Lines[i])}
		if !d.told[line] {
			fresh = append(fresh, i)
		}
	}
	for _, i := range fresh { // equal lines of one file are told together
		d.told[place{f.Path, string(f.Lines[i])}] = true
	}
	f.Matches = fresh
	return nil
}
