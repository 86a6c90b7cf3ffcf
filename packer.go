package cairn

import (
	"context"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// packer makes delta-compressed packs by means of the git program; nil where there
// is none.
func (r *Repo) packer() odb.PackFunc {
	binary, err := git.LookBinary()
	if err != nil {
		return nil
	}
	return func(ctx context.Context, dir string, objects io.Reader) error {
		return binary.PackObjects(ctx, r.db.Dir(), dir, objects, git.PackLimits{})
	}
}
