package blame

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Span is a time in which a path had one content.
type Span struct {
	First, Before int // moments of a timeline: the first with the content, the last that is known before, -1 for none
	Path          string
	ID            object.ID // of the blob, zero where the path is absent
}

// History collects the contents that a path had up to a moment of a timeline, the oldest first. It
// follows renames: a file that appears while one with the same content, or half of its lines,
// disappears has the history of that one.
func History(ctx context.Context, store *history.Store, timeline []history.Moment, path string) ([]Span, error) {
	c := &collector{ctx: ctx, store: store, timeline: timeline}
	at := len(timeline) - 1
	for at >= 0 && path != "" {
		var err error
		if path, at, err = c.follow(path, at); err != nil {
			return nil, err
		}
	}
	slices.Reverse(c.spans)
	return c.spans, nil
}

// collector goes back from the newest moment. spans are the newest first.
type collector struct {
	ctx      context.Context
	store    *history.Store
	timeline []history.Moment
	spans    []Span
}

// follow collects the spans of one path up to a moment. It returns the path that the file was
// renamed from, and the moment up to which that one counts, "" for the end.
func (c *collector) follow(path string, at int) (from string, before int, err error) {
	finder := c.store.NewPathFinder(path)
	var last *Span // whose First may still move back
	for i := at; i >= 0; i-- {
		if err := c.ctx.Err(); err != nil {
			return "", -1, err
		}
		if c.timeline[i].Same {
			continue
		}
		id, known, err := c.content(finder, path, i, last)
		if err != nil {
			return "", -1, err
		}
		switch {
		case !known:
			continue
		case last != nil && last.ID == id:
			last.First = i
			continue
		case last != nil:
			last.Before = i
		}
		if last != nil && id.IsZero() {
			if from, err = c.renamed(finder, last, i); err != nil || from != "" {
				return from, i, err
			}
		}
		c.spans = append(c.spans, Span{First: i, Before: -1, Path: path, ID: id})
		last = &c.spans[len(c.spans)-1]
	}
	return "", -1, nil
}

// content returns the blob of the path at a moment, zero if it is absent. known is false if the
// capture left the path out: then it says nothing. That is asked for only where the path appears
// absent after a moment in which it was there.
func (c *collector) content(finder *history.PathFinder, path string, at int, later *Span) (id object.ID, known bool, err error) {
	m := &c.timeline[at]
	e, err := finder.In(m.Tree)
	if err != nil {
		return id, false, err
	}
	if e.Mode != 0 && e.Mode != object.Dir && e.Mode != object.Gitlink {
		return e.ID, true, nil
	}
	if e.Mode != 0 || later != nil && later.ID.IsZero() {
		return id, true, nil
	}
	cp, err := c.store.ReadCheckpoint(m.ID)
	if err != nil {
		return id, false, err
	}
	meta, err := history.MetadataOf(cp)
	if err != nil {
		return id, false, err
	}
	return id, state.NewCoverage(meta).Uncaptured(path) == "", nil
}

// renamed finds the path that a file had at the moment before it appeared, "" for none. A file whose
// content the path had before is not new: a way back has brought it.
func (c *collector) renamed(finder *history.PathFinder, s *Span, before int) (string, error) {
	var gone []history.TreeChange
	moved := make(map[object.ID]bool) // contents that appear elsewhere
	for change, err := range c.store.CompareTrees(c.ctx, c.timeline[before].Tree, c.timeline[s.First].Tree, nil) {
		switch {
		case err != nil:
			return "", err
		case change.New == nil && change.Old.ID == s.ID:
			return change.Path, nil
		case change.New == nil && change.Old.Mode != object.Gitlink:
			gone = append(gone, change)
		case change.Old == nil:
			moved[change.New.ID] = true
		}
	}
	gone = slices.DeleteFunc(gone, func(g history.TreeChange) bool { return moved[g.Old.ID] })
	if len(gone) == 0 {
		return "", nil
	}
	for i := before; i >= 0; i-- {
		if e, err := finder.In(c.timeline[i].Tree); err != nil || e.ID == s.ID {
			return "", err
		}
	}
	text, err := c.store.Blob(&object.Entry{Mode: object.Regular, ID: s.ID})
	if err != nil {
		return "", err
	}
	return c.mostSimilar(s.Path, text, gone)
}

// Limits of the search for a renamed file with another content: the number of files that
// disappeared, and their size in bytes. Of more files those with the name of the new one count: a
// directory was renamed.
const (
	maxCandidates = 50
	maxCandidate  = 1 << 20
)

// mostSimilar returns the path of the file that has most lines in common with the new one, and at
// least half of the lines of the longer one.
func (c *collector) mostSimilar(name string, text []byte, gone []history.TreeChange) (string, error) {
	if len(gone) > maxCandidates {
		gone = slices.DeleteFunc(gone, func(g history.TreeChange) bool { return path.Base(g.Path) != path.Base(name) })
	}
	if len(gone) > maxCandidates || len(text) > maxCandidate {
		return "", nil
	}
	best, from := 0.5, ""
	for _, g := range gone {
		size, err := c.store.BlobSize(g.Old)
		if err != nil {
			return "", err
		}
		if size > 2*int64(len(text)) || 2*size < int64(len(text)) {
			continue
		}
		old, err := c.store.Blob(g.Old)
		if err != nil {
			return "", err
		}
		if is := Similarity(old, text); is > best || is == best && from == "" {
			best, from = is, g.Path
		}
	}
	return from, nil
}

// Read returns the content of a span.
func Read(store *history.Store, s *Span) ([]byte, error) {
	text, err := store.Blob(&object.Entry{Mode: object.Regular, ID: s.ID})
	if err == nil && int64(len(text)) > history.DefaultMaxDiffSize {
		err = tooLarge(s.Path, int64(len(text)))
	}
	return text, err
}

var errTooLarge = errors.New("too many to compare by lines")

func tooLarge(path string, size int64) error {
	return fmt.Errorf("%s has %d bytes, %w", path, size, errTooLarge)
}
