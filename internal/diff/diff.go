package diff

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"math"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/hunk"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// NoContext is the value of DiffOptions.Context for changed lines without context.
const NoContext = -2

// DiffOptions controls a diff. The zero value shows three lines of context.
type DiffOptions struct {
	Context     int   // lines around a change; 0 = 3, NoLimit = the whole file, NoContext = none
	MaxFileSize int64 // in bytes; 0 = DefaultMaxDiffSize, NoLimit = none
	IgnoreSpace bool  // as git diff -w: lines that differ in blanks only are equal
	Words       Words // in text, changed words in the place of changed lines
	Renames     bool  // in text, as git diff -M: a deletion and a similar addition are a rename
	Color       bool  // in text, the colours of git diff --color; ColorWords has them without it

	Visible bool // in text, control characters of lines are made visible, for a terminal

	// Hunks names the hunks: a FileDiff lists them, and a written diff has a name in each header,
	// behind a '#'. Every run of changed lines is a hunk of its own then, with three lines of context.
	// IgnoreSpace, Words and Renames do not change hunks.
	Hunks bool
}

// FileDiff is one changed file with its texts. Where it is not compared line by
// line, Note says why and texts and counts are empty. In JSON a byte of a text that is
// not UTF-8 becomes U+FFFD, because the specification makes the texts plain strings.
// Repo.OpenFile has the exact bytes.
type FileDiff struct {
	File      state.Path     `json:"file"` // from the root, '/'-separated
	Before    string         `json:"before"`
	After     string         `json:"after"`
	Additions int            `json:"additions"`
	Deletions int            `json:"deletions"`
	Status    history.Status `json:"status" enum:"added,modified,deleted"`
	Patch     string         `json:"patch" doc:"As git diff prints it."`
	Note      string         `json:"note,omitempty" enum:"binary,too large" doc:"Why there is no text."`
	Hunks     []hunk.Hunk    `json:"hunks,omitempty" doc:"The places that go back one by one."`
}

// WriteDiff writes the unified diff of the changes in list.
func (r *Differ) WriteDiff(ctx context.Context, w io.Writer, list []history.Change, opt DiffOptions) error {
	if opt.Renames {
		return r.writeWithRenames(ctx, w, list, opt)
	}
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

// writeWithRenames is WriteDiff with renames as one change.
func (r *Differ) writeWithRenames(ctx context.Context, w io.Writer, list []history.Change, opt DiffOptions) error {
	renamed, err := r.Renames(ctx, list)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(w, 64<<10)
	for i := range renamed {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := r.writeRenamed(buffered, &renamed[i], opt); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

func (r *Differ) fileDiffText(ctx context.Context, c *history.Change, opt DiffOptions) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if opt.Hunks {
		err := r.writeHunks(&text, c, opt)
		return text.Bytes(), err
	}
	_, err := r.writeFileDiff(&text, c, opt)
	return text.Bytes(), err
}

func (r *Differ) fileDiff(ctx context.Context, c *history.Change, opt DiffOptions) (FileDiff, error) {
	if err := ctx.Err(); err != nil {
		return FileDiff{}, err
	}
	var patch bytes.Buffer
	sides, err := r.writeFileDiff(&patch, c, opt)
	if err != nil {
		return FileDiff{}, err
	}
	d := FileDiff{File: state.Path(c.Path), Status: c.Status, Patch: patch.String(), Note: sides.note}
	if sides.note == "" {
		d.Before, d.After = string(sides.old), string(sides.new)
		d.Additions, d.Deletions = sides.stat.Added, sides.stat.Deleted
	} else {
		d.Patch = ""
	}
	if opt.Hunks && !isDir(c.OldMode) && !isDir(c.NewMode) {
		for _, piece := range cut(c, &sides).Hunks {
			d.Hunks = append(d.Hunks, piece.Hunk)
		}
	}
	return d, nil
}

// CountLines counts the added and deleted lines of a change. Both are zero for a file that is not
// compared line by line; note says why.
func (r *Differ) CountLines(c *history.Change, opt DiffOptions) (additions, deletions int, note string, err error) {
	s, err := r.sides(c, opt)
	if err != nil || s.note != "" || c.OldID == c.NewID {
		return 0, 0, s.note, err
	}
	stat := linediff.Count(s.old, s.new)
	if opt.IgnoreSpace {
		stat = linediff.CountIgnoringSpace(s.old, s.new)
	}
	return stat.Added, stat.Deleted, "", nil
}

// Sizes returns how many bytes a file has on both sides of a change, 0 for none.
func (r *Differ) Sizes(c *history.Change) (before, after int64, err error) {
	if err := history.CheckChange(c); err != nil {
		return 0, 0, err
	}
	if before, err = r.BlobSize(history.OldEntry(c)); err != nil {
		return 0, 0, err
	}
	after, err = r.BlobSize(history.NewEntry(c))
	return before, after, err
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

// limit returns the size in bytes above which a file is not compared.
func (opt *DiffOptions) limit() int64 {
	switch {
	case opt.MaxFileSize == 0:
		return history.DefaultMaxDiffSize
	case opt.MaxFileSize < 0:
		return math.MaxInt64
	}
	return opt.MaxFileSize
}

// sides reads both sides of a change, unless they are too large.
func (r *Differ) sides(c *history.Change, opt DiffOptions) (s fileSides, err error) {
	if s.oldSize, s.newSize, err = r.Sizes(c); err != nil {
		return s, err
	}
	if max(s.oldSize, s.newSize) > opt.limit() && c.OldID != c.NewID {
		s.note = noteTooLarge
		return s, nil
	}
	if s.old, err = r.Blob(history.OldEntry(c)); err != nil {
		return s, err
	}
	if s.new, err = r.Blob(history.NewEntry(c)); err != nil {
		return s, err
	}
	if linediff.Binary(s.old) || linediff.Binary(s.new) {
		s.note = noteBinary
	}
	return s, nil
}
