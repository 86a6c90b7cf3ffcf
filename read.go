package cairn

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/blame"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
	"github.com/seed-fb9cbc17/cairn/internal/search"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// TreeEntry is one path at a checkpoint.
type TreeEntry = history.TreeEntry

// List yields the files and symlinks of a checkpoint below a path ("" = all), ordered by the bytes
// of their paths. For a path that is a file it yields the file.
func (r *Repo) List(ctx context.Context, spec, path string) iter.Seq2[TreeEntry, error] {
	return r.store.List(ctx, spec, path)
}

// Exists reports whether a checkpoint has a path: a file, a symlink or a directory with captured
// files below it.
func (r *Repo) Exists(ctx context.Context, spec, path string) (bool, error) {
	return r.store.Exists(ctx, spec, path)
}

// OpenFile opens a file as it was at a checkpoint. The content of a symlink is its target. The
// reader fails at its end if the bytes do not match the recorded id.
func (r *Repo) OpenFile(ctx context.Context, spec, path string) (size int64, rc io.ReadCloser, err error) {
	return r.store.OpenFile(ctx, spec, path)
}

// BlameOptions controls Repo.Blame. The zero value blames the file on disk.
type BlameOptions struct {
	At          string // the checkpoint that holds the file, as Lookup takes it; "" = the disk
	Deleted     bool   // also find lines that are no longer there; the file itself may be gone, too
	IgnoreSpace bool   // a line stays the same if only blanks in it change
}

// Blame is a file with the origins of its lines.
type Blame = blame.File

// BlameLine is a line with its origin. Number is that of the line at the origin.
type BlameLine = blame.FileLine

// BlameDeleted is a line that is no longer there. It stood before the line with the number Line.
type BlameDeleted = blame.DeletedLine

// BlameOrigin is the time in which a line appeared or disappeared: after the state Before, and at
// the latest at Checkpoint. Without a checkpoint, only the disk shows it. Without a state before,
// it was so at the oldest checkpoint.
type BlameOrigin = blame.Origin

// Blame tells for each line of a file when it appeared, in the order in which the disk had the
// states of all lines of checkpoints. It follows renames. A line that a restore, revert or undo
// brings back keeps its origin, and so does every line if the whole file is again as it was
// earlier. Package session tells whose steps were running at that time. The error wraps
// ErrNotFound if there is no such file.
func (r *Repo) Blame(ctx context.Context, path string, opt BlameOptions) (*Blame, error) {
	rel, err := r.store.Rel(path)
	if err != nil {
		return nil, err
	}
	o := blame.FileOptions{At: opt.At, Deleted: opt.Deleted}
	if opt.IgnoreSpace {
		o.Diff = linediff.DiffIgnoringSpace
	}
	return blame.OfFile(ctx, r.store, rel, o)
}

// Pattern matches lines, see ParsePattern.
type Pattern = search.Pattern

// PatternOptions say how a text is a pattern. The zero value means a regular expression.
type PatternOptions = search.PatternOptions

// ParsePattern reads a regular expression of Go's syntax for Repo.Grep. As in POSIX, the longest of
// the leftmost matches counts.
func ParsePattern(text string, opt PatternOptions) (*Pattern, error) {
	return search.ParsePattern(text, opt)
}

// GrepOptions say what Repo.Grep searches. The zero value means all files on disk that a checkpoint
// would capture.
type GrepOptions struct {
	At      string   // the checkpoint, as Lookup takes it; "" = the disk
	Paths   []string // only these and what is below them
	Invert  bool     // look for the lines that do not match
	Deleted bool     // look for lines of any checkpoint that no file on disk has; without At and Invert
}

// GrepFile is a file with the lines that were looked for. Checkpoint is nil for the disk.
type GrepFile = search.File

// Grep yields the files with lines that match, ordered by the bytes of their paths. Symlinks are left
// out. For deleted lines it yields the newest checkpoint first, and tells a line of a path once, with
// the newest checkpoint that has it. The error wraps ErrNotFound if one of the paths is not there.
func (r *Repo) Grep(ctx context.Context, p *Pattern, opt GrepOptions) iter.Seq2[*GrepFile, error] {
	return func(yield func(*GrepFile, error) bool) {
		files, err := r.grep(ctx, p, opt)
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.store.Trees.DropLarge()
		files(yield)
	}
}

func (r *Repo) grep(ctx context.Context, p *Pattern, opt GrepOptions) (iter.Seq2[*GrepFile, error], error) {
	if p == nil || *p == (Pattern{}) {
		return nil, errors.New("no pattern to look for: ParsePattern makes one")
	}
	scope, err := r.store.ScopeOf(opt.Paths)
	if err != nil {
		return nil, err
	}
	var cp *history.Checkpoint
	if opt.At != "" {
		if cp, err = r.store.Lookup(ctx, opt.At); err != nil {
			return nil, err
		}
		opt.At = cp.ID
	}
	s, err := r.capturer.StateOf(ctx, opt.At)
	if err != nil {
		return nil, err
	}
	if opt.Deleted {
		return search.Deleted(ctx, r.store, s.Tree, scope, p), nil
	}
	if scope != nil {
		for _, path := range scope.Paths {
			if e, err := r.store.EntryOrNil(s.Tree, path); e == nil {
				return nil, cmp.Or(err, state.NotFound("path %s", path))
			}
		}
	}
	return func(yield func(*GrepFile, error) bool) {
		for f, err := range search.In(ctx, r.store, s.Tree, scope, p, opt.Invert) {
			if f != nil {
				f.Checkpoint = cp
			}
			if !yield(f, err) {
				return
			}
		}
	}, nil
}
