package cairn

import (
	"context"
	"io"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/diff"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/hunk"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Diff writes the difference between two checkpoints as "git diff --no-renames" prints it with
// core.quotePath off and ids of seven digits. An empty from or to means the disk. A file that is too
// large to compare gets one line that says so. The text is written file by file and never in memory
// as a whole. Without paths, every path is compared.
func (r *Repo) Diff(ctx context.Context, w io.Writer, from, to string, opt DiffOptions, paths ...string) error {
	list, err := r.Changes(ctx, from, to, paths...)
	if err != nil {
		return err
	}
	return r.differ.WriteDiff(ctx, w, list, opt)
}

// DiffFull yields the changed files between two checkpoints with their texts, one at a time. An
// empty from or to means the disk. It reads at most a few small files ahead of its caller, so memory does
// not grow with the number of files. Without paths, every path is compared.
func (r *Repo) DiffFull(ctx context.Context, from, to string, opt DiffOptions, paths ...string) iter.Seq2[FileDiff, error] {
	return func(yield func(FileDiff, error) bool) {
		list, err := r.Changes(ctx, from, to, paths...)
		if err != nil {
			yield(FileDiff{}, err)
			return
		}
		r.differ.FileDiffs(ctx, list, opt)(yield)
	}
}

// Change is a file that differs between two states, or a directory that exists in both with
// different permission bits. A directory has no id.
type Change = history.Change

// Status says what happened to a file.
type Status = history.Status

// The statuses, in OpenCode's words. A rename is a deletion and an addition. A file that became a
// symlink, or the reverse, is modified.
const (
	Added    Status = history.Added
	Modified Status = history.Modified
	Deleted  Status = history.Deleted
)

// DefaultMaxDiffSize is the size in bytes above which a file is not compared line
// by line.
const DefaultMaxDiffSize = history.DefaultMaxDiffSize

// NoContext is the value of DiffOptions.Context for changed lines without context: 0 is the default
// of three lines.
const NoContext = diff.NoContext

// DiffOptions controls a diff. The zero value shows three lines of context.
type DiffOptions = diff.DiffOptions

// FileDiff is one changed file with its texts. For a file that is not compared line by line, Note
// says why, and texts and counts are empty.
type FileDiff = diff.FileDiff

// Hunk is one run of changed lines of a file, or a change that goes back as a whole, with a name that
// holds while other hunks of the file come and go.
type Hunk = hunk.Hunk

// Patch lists the files that differ from a checkpoint, as absolute paths with '/'
// separators. In JSON it is {"hash","files"}, paths as Path has them.
type Patch = state.Patch

// WriteDiff writes the unified diff of the changes in list.
func (r *Repo) WriteDiff(ctx context.Context, w io.Writer, list []Change, opt DiffOptions) error {
	return r.differ.WriteDiff(ctx, w, list, opt)
}

// CountLines counts the added and deleted lines of a change. Both are zero for a file that is not
// compared line by line; note says why.
func (r *Repo) CountLines(c *Change, opt DiffOptions) (additions, deletions int, note string, err error) {
	return r.differ.CountLines(c, opt)
}

// Sizes returns how many bytes a file has on both sides of a change, 0 where there is none.
func (r *Repo) Sizes(c *Change) (before, after int64, err error) { return r.differ.Sizes(c) }

// FileDiffs yields a FileDiff for each change in list.
func (r *Repo) FileDiffs(ctx context.Context, list []Change, opt DiffOptions) iter.Seq2[FileDiff, error] {
	return r.differ.FileDiffs(ctx, list, opt)
}

// Words says how a diff shows changed words. The names are git's.
type Words = diff.Words

// The ways to show words: not at all, in [-old-]{+new+}, in colours alone, and line by line for
// programs.
const (
	NoWords        = diff.NoWords
	PlainWords     = diff.PlainWords
	ColorWords     = diff.ColorWords
	PorcelainWords = diff.PorcelainWords
)

// FileChange is a change that may be a rename: then From is the path before, and Similarity says in
// percent how much of the contents is common.
type FileChange = diff.FileChange

// Renames pairs deletions with additions as git diff -M does: equal contents, and files of which
// half of the bytes are common. A pair is one change at the path of the addition.
func (r *Repo) Renames(ctx context.Context, list []Change) ([]FileChange, error) {
	return r.differ.Renames(ctx, list)
}
