package history

import (
	"context"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/git"
)

// packAnew is the size in bytes up to which a job compares and compresses all its objects again,
// without reuse of old deltas. Hours of small captures leave less than that. A large first track
// would keep a processor busy for minutes.
const packAnew = 16 << 20

// Packer returns a function that makes delta-compressed packs with the git program, nil if there is
// no git.
func (r *Store) Packer() func(ctx context.Context, dir string, objects io.Reader, size int64) error {
	binary, err := git.LookBinary()
	if err != nil {
		return nil
	}
	return func(ctx context.Context, dir string, objects io.Reader, size int64) error {
		return binary.PackObjects(ctx, r.DB.Dir(), dir, objects, git.PackLimits{Anew: size <= packAnew, Progress: r.Opt.Told()})
	}
}
