package cairn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/repair"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Adopt moves the store of a directory that was moved. The old root must not exist (ErrRoot), but as a symlink to
// the new one, which must not have a store of its own (ErrExists): a fetch from the old store brings its
// checkpoints then. A store that is that of the new root by an earlier adoption stays. A sealed store is
// ErrSealed: Unseal with the old root opens it. The error wraps ErrNotFound if the old root has no store. Open
// does the same by itself for a directory that was renamed, see Repo.Adopted.
func Adopt(ctx context.Context, dataDir, oldRoot, newRoot string) error {
	root, err := state.ResolveRoot(newRoot)
	if err != nil {
		return err
	}
	from, to := StorePath(dataDir, oldRoot), StorePath(dataDir, root)
	if !repair.LeftFor(oldRoot, root) {
		if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			return state.NotFound("no store of %s", oldRoot)
		}
		return fmt.Errorf("%w: %s is still there and keeps its store (cairn fetch %s brings its checkpoints)", ErrRoot, oldRoot, from)
	}
	err = odb.Move(ctx, from, to, root, odb.Options{Command: "adoption"})
	switch {
	case errors.Is(err, odb.ErrNotStore):
		if odb.WasAt(to, oldRoot) {
			return nil
		}
		return state.NotFound("no store of %s", oldRoot)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w: %s has checkpoints of its own by now (cairn fetch %s brings the old ones)", ErrExists, root, from)
	case errors.Is(err, ErrLocked):
		return err
	case errors.Is(err, ErrSealed):
		return fmt.Errorf("%w: %w: it is that of %s, and is opened there first (cairn --root %s unseal)", ErrStore, ErrSealed, oldRoot, wording.ShellWord(oldRoot))
	case err != nil:
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	return nil
}

// renamedFrom finds the store of a root that was renamed since its last capture, and has none at its present path.
func renamedFrom(store, dataDir, root string) (repair.Former, bool) {
	if _, err := os.Lstat(store); !errors.Is(err, fs.ErrNotExist) {
		return repair.Former{}, false
	}
	return repair.Renamed(dataDir, root)
}

// adoptRenamed adopts the store of this directory where it has another path since its last capture. store is the
// path of a store for the present one.
func (r *Repo) adoptRenamed(store string) error {
	opt, root := &r.store.Opt, r.store.Root
	former, ok := renamedFrom(store, opt.DataDir, root)
	if !ok {
		return nil
	}
	unsealed := false
	if former.Root == "" {
		var err error
		if unsealed, err = r.unsealIn(former.Store, "it is that of "+root+", under an earlier name"); err != nil {
			return err
		}
		if former, ok = renamedFrom(store, opt.DataDir, root); !ok || former.Root == "" {
			return nil // sealed or adopted by another process meanwhile: the caller looks again
		}
	}
	if err := r.adoptFrom(former.Root); err != nil {
		return err
	}
	if unsealed {
		opt.Unsealed(root)
	}
	return nil
}

func (r *Repo) adoptFrom(former string) error {
	opt, root := &r.store.Opt, r.store.Root
	ctx, cancel := opt.Waiting(context.Background())
	defer cancel()
	switch err := Adopt(ctx, opt.DataDir, former, root); {
	case err == nil:
		r.adopted = former
	case errors.Is(err, ErrExists), errors.Is(err, ErrNotFound): // another process was faster
	default:
		return fmt.Errorf("%s was %s before: %w", root, former, err)
	}
	return nil
}

// Adopted returns the path at which the root was before, where Open found that it was renamed and took its store
// along; "" otherwise. The inode and the time of creation of a root tell that, which every capture records. A
// directory that was copied, or moved to another file system, is not found so: that takes Adopt.
func (r *Repo) Adopted() string { return r.adopted }
