package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/blame"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
)

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
