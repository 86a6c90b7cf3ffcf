package history

import (
	"context"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// packAnew is up to which size of a job everything in it is compared and compressed
// anew. What hours of small captures leave behind is smaller; a large first track would
// keep a processor busy for minutes.
const packAnew = 16 << 20

// Packer makes delta-compressed packs by means of the git program; nil where there
// is none.
func (r *Store) Packer() odb.PackFunc {
	binary, err := git.LookBinary()
	if err != nil {
		return nil
	}
	return func(ctx context.Context, dir string, objects io.Reader, size int64) error {
		return binary.PackObjects(ctx, r.DB.Dir(), dir, objects, git.PackLimits{Anew: size <= packAnew})
	}
}
