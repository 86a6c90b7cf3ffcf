package cairn

import (
	"context"
	"io"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/diff"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Diff writes the difference between two checkpoints as "git diff --no-renames"
// prints it with core.quotePath off and ids of seven digits. An empty to means the
// disk. Files that are too large to compare get one line that says so. The text is
// written file by file and never held as a whole.
func (r *Repo) Diff(ctx context.Context, w io.Writer, from, to string, opt DiffOptions) error {
	list, err := r.Changes(ctx, from, to, opt.Paths...)
	if err != nil {
		return err
	}
	return r.differ.WriteDiff(ctx, w, list, opt)
}

// DiffFull yields the changed files between two checkpoints with their texts, one
// at a time. An empty to means the disk. It is ahead of its caller by a few small files
// at most, so that memory does not grow with the number of files.
func (r *Repo) DiffFull(ctx context.Context, from, to string, opt DiffOptions) iter.Seq2[FileDiff, error] {
	return func(yield func(FileDiff, error) bool) {
		list, err := r.Changes(ctx, from, to, opt.Paths...)
		if err != nil {
			yield(FileDiff{}, err)
			return
		}
		r.differ.FileDiffs(ctx, list, opt)(yield)
	}
}

// Change is one file that differs between two states, or a directory of both whose
// permission bits differ. A directory has no id.
type Change = history.Change

// Status says what happened to a file.
type Status = history.Status

// The statuses, in OpenCode's words. A rename is a deletion and an addition. A file
// that became a symlink, or the reverse, is modified.
const Added = history.Added

const Modified = history.Modified

const Deleted = history.Deleted

// DefaultMaxDiffSize is the size in bytes above which a file is not compared line
// by line.
const DefaultMaxDiffSize = history.DefaultMaxDiffSize

// NoContext is the value of DiffOptions.Context for changed lines alone.
const NoContext = diff.NoContext

// DiffOptions says what to compare and how. The zero value compares everything
// with three lines of context.
type DiffOptions = diff.DiffOptions

// FileDiff is one changed file with its texts. Where it is not compared line by
// line, Note says why and texts and counts are empty.
type FileDiff = diff.FileDiff

// Patch lists the files that differ from a checkpoint, as absolute paths with '/'
// separators. In JSON it is {"hash","files"}, paths encoded by EncodePath.
type Patch = state.Patch

// WriteDiff is Diff for changes already listed.
func (r *Repo) WriteDiff(ctx context.Context, w io.Writer, list []Change, opt DiffOptions) error {
	return r.differ.WriteDiff(ctx, w, list, opt)
}

// Stat counts the lines that a change adds and deletes, without its text. Both are
// zero for files that are not compared line by line.
func (r *Repo) Stat(c *Change, opt DiffOptions) (additions, deletions int, note string, err error) {
	return r.differ.Stat(c, opt)
}

// StepChanges lists what some steps changed, each path from before the first of them
// that changed it to after the last, ordered by path. What belongs to others is left
// out, also what is shared with them.
func (r *Repo) StepChanges(ctx context.Context, steps []UndoneStep) ([]Change, error) {
	return r.operator.StepChanges(ctx, steps)
}

// FileDiffs is DiffFull for changes already listed.
func (r *Repo) FileDiffs(ctx context.Context, list []Change, opt DiffOptions) iter.Seq2[FileDiff, error] {
	return r.differ.FileDiffs(ctx, list, opt)
}
