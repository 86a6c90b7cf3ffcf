package gitcommit

import (
	"context"
	"errors"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
	"github.com/seed-fb9cbc17/cairn/internal/usergit"
)

var errOverlap = errors.New("the changes overlap others that HEAD does not have")

// maxMerge is the size up to which texts are merged.
const maxMerge = 32 << 20

// merge is a three-way merge of entries.
func (p *Planner) merge(ctx context.Context, base, ours, theirs usergit.Entry) (usergit.Entry, error) {
	switch {
	case ours == theirs, base == theirs:
		return ours, nil
	case base == ours:
		return theirs, nil
	case !base.IsFile() || !ours.IsFile() || !theirs.IsFile():
		return ours, errOverlap
	}
	out := ours
	if ours.Mode == base.Mode {
		out.Mode = theirs.Mode
	}
	switch {
	case base.ID == ours.ID:
		out.ID = theirs.ID
		return out, nil
	case base.ID == theirs.ID, ours.ID == theirs.ID:
		return out, nil
	}
	var text [3][]byte
	for i, e := range []usergit.Entry{base, ours, theirs} {
		var tooLarge bool
		var err error
		if text[i], tooLarge, err = p.Scratch.Blob(ctx, e.ID, maxMerge); err != nil {
			return ours, err
		}
		if tooLarge {
			return ours, errOverlap
		}
	}
	res := linediff.Merge(text[0], text[1], text[2])
	if res.Conflicts > 0 {
		return ours, errOverlap
	}
	var err error
	out.ID, err = p.Scratch.Add(res.Content)
	return out, err
}

// has reports whether HEAD has a state of a path that is on disk now, or that the session knows from the
// planned turn or a later one. It then holds what the session did to the path, or the user has replaced
// that.
func (p *Planner) has(ctx context.Context, rel string, head usergit.Entry) (bool, error) {
	now, err := p.onDisk(ctx, p.at(rel))
	if err != nil || now == head {
		return now == head, err
	}
	if p.known == nil {
		p.known = p.Known()
		var ways [][]history.Change
		for _, way := range p.ways {
			for _, known := range p.known[way[0].Path] {
				ways = append(ways, []history.Change{known.Change})
			}
		}
		if err := p.clean(ctx, ways); err != nil {
			return false, err
		}
	}
	return slices.ContainsFunc(p.known[rel], func(c KnownChange) bool {
		return c.Turn >= p.From && p.entry(rel, history.NewEntry(&c.Change)) == head
	}), nil
}

// Count counts the lines of a file that a commit adds and deletes.
func (p *Planner) Count(ctx context.Context, f *File) error {
	f.Additions, f.Deletions, f.Binary = 0, 0, false
	var text [2][]byte
	for i, e := range []usergit.Entry{f.Before, f.After} {
		if e.ID == "" {
			continue
		}
		var tooLarge bool
		var err error
		if text[i], tooLarge, err = p.Scratch.Blob(ctx, e.ID, maxMerge); err != nil {
			return err
		}
		if tooLarge || linediff.Binary(text[i]) {
			f.Binary = true
		}
	}
	if f.Binary {
		return nil
	}
	for _, e := range linediff.Diff(text[0], text[1]) {
		f.Additions += e.B1 - e.B0
		f.Deletions += e.A1 - e.A0
	}
	return nil
}
