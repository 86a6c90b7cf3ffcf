package cairn

import (
	"context"
	"io"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/history"
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
