package merge

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/diff"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// follower makes a merge path by path give what a merge of moved files gives. For each rename it
// replaces what base and theirs have at the two paths: a change of a file that was moved here goes to
// the new path, and a file that moved there takes the changes from here along.
type follower struct {
	*Merger
	sides
	ctx    context.Context
	batch  *odb.Batch
	merger *plan.TextMerger

	movedTo map[string]*diff.FileChange // renames here, by the path before; nil until it is needed

	atBase, atTheirs map[string]history.PathEnd // replacements
	moved            []string                   // paths here of files that were changed there and moved here
	pairs            [][2]string
	mixed            []string
	conflicts        []state.PathReason
}

func (f *follower) follow(list []diff.FileChange) error {
	for i := range list {
		c := &list[i]
		if err := f.ctx.Err(); err != nil {
			return err
		}
		var err error
		if c.From != "" {
			err = f.movedThere(c)
		} else if c.Status != history.Added {
			err = f.changedThere(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// changedThere follows a file that was changed or deleted there and may have been moved here.
func (f *follower) changedThere(c *diff.FileChange) error {
	ours, err := f.EndOf(f.ours, c.Path)
	if err != nil || ours.Entry != nil {
		return err
	}
	to, err := f.oursOf(c.Path)
	if err != nil || to == nil {
		return err
	}
	if c.Status == history.Deleted {
		f.conflict(to.Path, "renamed here from "+pathtext.Quote(c.Path)+", deleted there")
		return nil
	}
	taken, err := f.takenThere(to.Path)
	if err != nil || taken {
		return err // something else came to the new path there: both paths are conflicts
	}
	f.atBase[c.Path], f.atTheirs[c.Path] = history.PathEnd{}, history.PathEnd{}
	f.atBase[to.Path], f.atTheirs[to.Path] = oldEnd(c), newEnd(c)
	f.moved = append(f.moved, to.Path)
	return nil
}

// takenThere reports whether something came there to a path, or below it, or to a directory above it. A file at the
// path would hide that. What went there is gone here, too, where a file stands.
func (f *follower) takenThere(at string) (bool, error) {
	above := state.DirsAbove(slices.Values([]string{at}))
	scope := state.NewPathScope([]string{at}).WithAlone(slices.Collect(maps.Keys(above)))
	for c, err := range f.CompareTrees(f.ctx, f.base.Tree, f.theirs.Tree, scope) {
		if err != nil || c.New != nil {
			return err == nil, err
		}
	}
	return false, nil
}

// movedThere follows a file that was moved there.
func (f *follower) movedThere(c *diff.FileChange) error {
	at, err := f.EndOf(f.ours, c.Path)
	if err != nil {
		return err
	}
	ours, err := f.EndOf(f.ours, c.From)
	if err != nil {
		return err
	}
	if ours.Entry == nil {
		return f.goneHere(c)
	}
	f.pairs = append(f.pairs, [2]string{c.From, c.Path})
	if at.Entry != nil || ours.Same(oldEnd(c)) {
		return nil
	}
	end, reason, err := plan.Merge3(oldEnd(c), ours, newEnd(c), plan.Merge, f.merger.Contents)
	if err != nil {
		return err
	}
	if reason != "" {
		f.conflict(c.From, reword(reason)+"; renamed there to "+pathtext.Quote(c.Path))
		return f.leave(c)
	}
	if text, ok := f.merger.Merged[end.Entry.ID]; ok {
		if _, err := f.batch.Add(object.Blob, text); err != nil {
			return err
		}
	}
	f.atBase[c.From], f.atTheirs[c.Path] = ours, end
	f.mixed = append(f.mixed, c.Path)
	return nil
}

// goneHere follows a file that was moved there and does not stand at its old path here.
func (f *follower) goneHere(c *diff.FileChange) error {
	to, err := f.oursOf(c.From)
	switch {
	case err != nil:
		return err
	case to == nil:
		f.conflict(c.Path, "deleted here, renamed there from "+pathtext.Quote(c.From))
	case to.Path == c.Path:
		f.atBase[c.From], f.atBase[c.Path] = history.PathEnd{}, oldEnd(c)
		return nil
	default:
		f.conflict(c.Path, "renamed here from "+pathtext.Quote(c.From)+" to "+pathtext.Quote(to.Path))
	}
	return f.leave(c)
}

// leave makes a rename no change. What took the old path there is a change of its own.
func (f *follower) leave(c *diff.FileChange) error {
	f.atTheirs[c.Path] = history.PathEnd{}
	free, err := f.isFree(f.theirs, c.From)
	if free {
		f.atTheirs[c.From] = oldEnd(c)
	} else {
		f.atBase[c.From] = history.PathEnd{}
	}
	return err
}

func (f *follower) conflict(path, reason string) {
	f.conflicts = append(f.conflicts, state.PathReason{Path: state.Path(path), Reason: reason})
}

// oursOf returns the rename here of a path, nil for none.
func (f *follower) oursOf(path string) (*diff.FileChange, error) {
	if f.movedTo == nil {
		list, err := f.changes(f.ctx, f.base, f.ours, nil)
		if err != nil {
			return nil, err
		}
		f.movedTo = make(map[string]*diff.FileChange)
		for i := range list {
			if list[i].From != "" {
				f.movedTo[list[i].From] = &list[i]
			}
		}
	}
	return f.movedTo[path], nil
}

// reasons puts the reasons of a plan that goes back into the words of a merge. Base is the common
// checkpoint, and what came since was done here.
var reasons = map[string]string{
	plan.ReasonChangedSince:   "changed here, deleted there",
	plan.ReasonOverlap:        "changed here and there, and the changes overlap",
	plan.ReasonNotText:        "changed here and there, and not a text that could be merged",
	plan.ReasonGoneSince:      "deleted here, changed there",
	plan.ReasonMadeSince:      "made here and there, with different contents",
	plan.ReasonNotCapturedNow: "changed there, and here not captured (ignored, or too large)",
	plan.ReasonTooLargeMerge:  "changed here and there, and too large to merge",
}

// prefixes is reasons for those that a path follows.
var prefixes = [][2]string{
	{plan.ReasonNotCaptured, "present there but not captured: "},
	{plan.ReasonGone, "present there but not captured: "},
	{plan.ReasonNotCapturedAfter, "not captured at the common checkpoint: "},
}

func reword(reason string) string {
	if words, ok := reasons[reason]; ok {
		return words
	}
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(reason, p[0]); ok {
			return p[1] + rest
		}
	}
	return reason
}
