package diff

import (
	"context"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// FileDiffs yields a FileDiff for each change in list.
func (r *Differ) FileDiffs(ctx context.Context, list []history.Change, opt DiffOptions) iter.Seq2[FileDiff, error] {
	size := func(i int) int64 { return r.diffSize(&list[i]) }
	return readAhead(len(list), size, func(i int) (FileDiff, error) { return r.fileDiff(ctx, &list[i], opt) })
}

// diffSize returns the number of bytes that the comparison of a change reads. It ignores errors:
// the comparison meets them again and reports them.
func (r *Differ) diffSize(c *history.Change) int64 {
	old, _ := r.BlobSize(history.OldEntry(c))
	now, _ := r.BlobSize(history.NewEntry(c))
	return old + now
}
