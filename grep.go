package cairn

import (
	"cmp"
	"context"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/search"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

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
