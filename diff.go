package cairn

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// NoContext is the value of DiffOptions.Context for changed lines alone.
const NoContext = -2

// DiffOptions says what to compare and how. The zero value compares everything
// with three lines of context.
type DiffOptions struct {
	Paths       []string
	Context     int   // lines around a change; 0 = 3, NoLimit = the whole file, NoContext = none
	MaxFileSize int64 // in bytes; 0 = DefaultMaxDiffSize
}

// FileDiff is one changed file with its texts. Where it is not compared line by
// line, Note says why and texts and counts are empty.
type FileDiff struct {
	File      string // from the root, '/'-separated
	Before    string
	After     string
	Additions int
	Deletions int
	Status    Status
	Patch     string // as Diff prints it
	Note      string // "", "binary" or "too large"
}

type fileDiffJSON struct {
	File      state.PathText `json:"file"`
	Before    string         `json:"before"`
	After     string         `json:"after"`
	Additions int            `json:"additions"`
	Deletions int            `json:"deletions"`
	Status    Status         `json:"status"`
	Patch     string         `json:"patch"`
	Note      string         `json:"note,omitempty"`
}

// MarshalJSON implements json.Marshaler. A byte of a text that is not UTF-8 becomes
// U+FFFD, because the specification makes the texts plain strings. Repo.OpenFile has
// the exact bytes.
func (d FileDiff) MarshalJSON() ([]byte, error) {
	return json.Marshal(fileDiffJSON{state.PathText(d.File), d.Before, d.After, d.Additions, d.Deletions, d.Status, d.Patch, d.Note})
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *FileDiff) UnmarshalJSON(data []byte) error {
	var j fileDiffJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*d = FileDiff{string(j.File), j.Before, j.After, j.Additions, j.Deletions, j.Status, j.Patch, j.Note}
	return nil
}

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

// WriteDiff is Diff for changes already listed.
func (r *differ) WriteDiff(ctx context.Context, w io.Writer, list []Change, opt DiffOptions) error {
	buffered := bufio.NewWriterSize(w, 64<<10)
	size := func(i int) int64 { return r.diffSize(&list[i]) }
	for text, err := range readAhead(len(list), size, func(i int) ([]byte, error) { return r.fileDiffText(ctx, &list[i], opt) }) {
		if err == nil {
			_, err = buffered.Write(text)
		}
		if err != nil {
			return err
		}
	}
	return buffered.Flush()
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

func (r *differ) fileDiffText(ctx context.Context, c *Change, opt DiffOptions) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	_, err := r.writeFileDiff(&text, c, opt)
	return text.Bytes(), err
}

func (r *differ) fileDiff(ctx context.Context, c *Change, opt DiffOptions) (FileDiff, error) {
	if err := ctx.Err(); err != nil {
		return FileDiff{}, err
	}
	var patch bytes.Buffer
	sides, err := r.writeFileDiff(&patch, c, opt)
	if err != nil {
		return FileDiff{}, err
	}
	d := FileDiff{File: c.Path, Status: c.Status, Patch: patch.String(), Note: sides.note}
	if sides.note == "" {
		d.Before, d.After = string(sides.old), string(sides.new)
		d.Additions, d.Deletions = sides.stat.Added, sides.stat.Deleted
	} else {
		d.Patch = ""
	}
	return d, nil
}

// Stat counts the lines that a change adds and deletes, without its text. Both are
// zero for files that are not compared line by line.
func (r *differ) Stat(c *Change, opt DiffOptions) (additions, deletions int, note string, err error) {
	s, err := r.sides(c, opt)
	if err != nil || s.note != "" || c.OldID == c.NewID {
		return 0, 0, s.note, err
	}
	stat := linediff.Count(s.old, s.new)
	return stat.Added, stat.Deleted, "", nil
}

// fileSides are the contents of both sides, or the reason why they were not read.
type fileSides struct {
	old, new         []byte
	oldSize, newSize int64
	note             string
	stat             linediff.Stat
}

const (
	noteBinary   = "binary"
	noteTooLarge = "too large"
)

func (opt *DiffOptions) limit() int64 {
	if opt.MaxFileSize == 0 {
		return DefaultMaxDiffSize
	}
	return opt.MaxFileSize
}

func (r *differ) sides(c *Change, opt DiffOptions) (s fileSides, err error) {
	if err := history.CheckChange(c); err != nil {
		return s, err
	}
	before, after := history.OldEntry(c), history.NewEntry(c)
	if s.oldSize, err = r.BlobSize(before); err != nil {
		return s, err
	}
	if s.newSize, err = r.BlobSize(after); err != nil {
		return s, err
	}
	if max(s.oldSize, s.newSize) > opt.limit() && c.OldID != c.NewID {
		s.note = noteTooLarge
		return s, nil
	}
	if s.old, err = r.Blob(before); err != nil {
		return s, err
	}
	if s.new, err = r.Blob(after); err != nil {
		return s, err
	}
	if linediff.Binary(s.old) || linediff.Binary(s.new) {
		s.note = noteBinary
	}
	return s, nil
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
