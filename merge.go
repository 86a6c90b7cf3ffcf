package cairn

import (
	"context"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/merge"
)

// MergeSource is where the changes of a merge come from: a checkpoint, or the present state of
// another directory.
type MergeSource struct {
	Repo       *Repo  // whose; nil = the one that merges
	Checkpoint string // as Lookup takes it; "" = the present state of Repo, which is captured first
}

// MergeOptions controls a merge.
type MergeOptions = merge.Options

// Merge brings in what changed at a source since the newest checkpoint that both sides have in
// common: one that both stores hold, one that an earlier merge has brought, or else two equal
// states. Without any, and without Base, the error wraps ErrNotFound, as it does for one of
// opt.Paths that is on neither side. A path that was not changed here becomes as it is there. A
// path that was changed on both sides is merged line by line; where that is not clean, it stays as
// it is here and is a conflict. Renames of either side are followed.
//
// Only this root and this store are written. What the store lacks is read from the other store and
// checked. Large packs that hold little else come by hard link, other objects are copied. The merge is an
// operation: Undo takes it back.
//
// With Hunks only these come in. Compare lists their names.
func (r *Repo) Merge(ctx context.Context, from MergeSource, opt MergeOptions) (*Result, error) {
	defer r.store.Trees.DropLarge()
	src, err := r.mergeSource(ctx, from)
	if err != nil {
		return nil, err
	}
	return r.merger.Merge(ctx, src, opt)
}

// Comparison is what several sources changed since the checkpoint that each has in common with the
// directory.
type Comparison = merge.Comparison

// ComparedSource is what one source of a Comparison changed.
type ComparedSource = merge.ComparedSource

// ComparedFile is one changed file of a source. A rename is one file.
type ComparedFile = merge.ComparedFile

// Overlap names another source, or the directory itself, that changed the same file. Outcome is
// "same", "merges" or "conflicts".
type Overlap = merge.Overlap

// CompareOptions controls a comparison.
type CompareOptions = merge.CompareOptions

// Compare lists what each of several sources changed since the checkpoint that it has in common
// with this directory, found as by Merge, and marks the files that another one or this directory
// changed, too. One of opt.Paths that is on no side is an ErrNotFound. Objects that the store lacks
// come as by Merge and stay until the next cleaning.
func (r *Repo) Compare(ctx context.Context, from []MergeSource, opt CompareOptions) (*Comparison, error) {
	defer r.store.Trees.DropLarge()
	sources := make([]merge.Source, len(from))
	for i := range from {
		var err error
		if sources[i], err = r.mergeSource(ctx, from[i]); err != nil {
			return nil, err
		}
	}
	return r.merger.Compare(ctx, sources, opt)
}

// mergeSource captures the directory of a source, unless it is a checkpoint.
func (r *Repo) mergeSource(ctx context.Context, from MergeSource) (merge.Source, error) {
	if from.Repo == nil || from.Repo == r {
		if from.Checkpoint == "" {
			return merge.Source{}, fmt.Errorf("%w: the source of a merge is neither a checkpoint nor another directory", ErrNotFound)
		}
		return merge.Source{Checkpoint: from.Checkpoint, Name: from.Checkpoint}, nil
	}
	other := from.Repo
	if other.Root() == r.Root() {
		return merge.Source{}, fmt.Errorf("%w: %s is the directory itself: name another one, or a checkpoint", ErrRoot, r.Root())
	}
	src := merge.Source{Store: other.store, Checkpoint: from.Checkpoint, Name: other.Root()}
	if from.Checkpoint != "" {
		return src, nil
	}
	res, err := other.Track(ctx, TrackOptions{})
	if err != nil {
		return src, fmt.Errorf("capture %s: %w", other.Root(), err)
	}
	src.Checkpoint = res.Checkpoint
	return src, nil
}
