package search

import (
	"bytes"
	"context"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// File is a file with lines that were looked for.
type File struct {
	Path       string              // from the root, '/'-separated
	Checkpoint *history.Checkpoint // that has the lines; nil for the disk
	Binary     bool                // its lines are no text
	Lines      [][]byte            // all, without their ends
	Matches    []int               // indexes into Lines
}

// In yields the files of a tree with lines that match, ordered by the bytes of their paths. With
// invert it looks for lines that do not match. Symlinks are left out. A scope of nil means all paths.
func In(
	ctx context.Context, store *history.Store, tree object.ID, scope *state.PathScope, p *Pattern,
	invert bool,
) iter.Seq2[*File, error] {
	return func(yield func(*File, error) bool) {
		for c, err := range store.WalkTree(ctx, tree, scope) {
			var f *File
			if err == nil && c.New.Mode.IsFile() {
				f, err = searched(store, c.Path, c.New, func(line []byte) bool { return p.Match(line) != invert })
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if f != nil && !yield(f, nil) {
				return
			}
		}
	}
}

// searched reads a file and collects the lines that are wanted. It returns nil if there is none.
func searched(store *history.Store, path string, e *object.Entry, wanted func(line []byte) bool) (*File, error) {
	content, err := store.Blob(e)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, Binary: linediff.Binary(content)}
	for line := range bytes.Lines(content) {
		line = bytes.TrimSuffix(line, []byte{'\n'})
		if wanted(line) {
			f.Matches = append(f.Matches, len(f.Lines))
		}
		f.Lines = append(f.Lines, line)
	}
	if len(f.Matches) == 0 {
		return nil, nil
	}
	return f, nil
}
