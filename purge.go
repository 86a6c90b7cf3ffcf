package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/purge"
)

// Purged is the answer of Purge.
type Purged = purge.Purged

// Purge takes the contents of paths, and of everything below them, out of the whole
// history: checkpoints, sessions, operations, pins and what came from elsewhere.
// Checkpoints that held them become partial: the paths count as present, but not
// captured, so that going back leaves them alone. They get new ids, and so does
// what was built on them; the old ids still find them. The paths are not captured
// any more, until Unpurge. What lies on the disk of the root, and what was exported
// or pushed, is not touched.
//
//  1. finish what was interrupted, forget the stat cache
//  2. write the new commits, in one pack
//  3. record which took the place of which, move the refs
//  4. drop what nothing leads to any more, down to the last byte
//
// Dying in between leaves a sound store, in which a part of the lines may hold the
// paths still: the same call does the rest. The error wraps ErrNotFound if no
// checkpoint ever held any of the paths.
func (r *Repo) Purge(ctx context.Context, paths []string) (*Purged, error) {
	return r.rewriter.Purge(ctx, paths)
}

// PurgedPaths lists, from the root, the paths that are not captured any more because
// they were purged.
func (r *Repo) PurgedPaths() []string {
	return r.store.PurgedPaths()
}

// Unpurge lets paths be captured again that were purged. Their old contents stay
// gone. A path that was not purged is ErrNotFound.
func (r *Repo) Unpurge(paths []string) error {
	return r.rewriter.Unpurge(paths)
}
