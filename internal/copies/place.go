package copies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
)

// ErrPlace: a copy cannot be made at this path. Nothing was done.
var ErrPlace = errors.New("no place for a copy")

// placeOf checks the path of a new directory and returns it with the real path of its parent.
func (r *Copier) placeOf(ctx context.Context, dir string) (string, error) {
	if dir == "" {
		return "", fmt.Errorf("%w: an empty path", ErrPlace)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrPlace, err)
	}
	parent, err := realpath.Of(filepath.Dir(abs))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: %s does not exist; make it first", ErrPlace, filepath.Dir(abs))
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrPlace, err)
	}
	at := filepath.Join(parent, filepath.Base(abs))
	if err := r.checkOutside(ctx, at); err != nil {
		return "", err
	}
	if err := apply.CheckNew(at); err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrPlace, at, withoutPath(err))
	}
	return at, nil
}

func withoutPath(err error) error {
	var withPath *os.PathError
	if errors.As(err, &withPath) {
		return withPath.Err
	}
	return err
}

// checkOutside refuses a path where a copy would change what it is a copy of, a store, or a git
// repository's own files.
func (r *Copier) checkOutside(ctx context.Context, at string) error {
	if realpath.Within(at, r.Root) {
		if err := r.checkLeftOut(ctx, at); err != nil {
			return err
		}
	}
	for _, dir := range []string{r.Opt.DataDir, r.DB.Dir()} {
		if real, err := realpath.Of(dir); err == nil && realpath.Within(at, real) {
			return fmt.Errorf("%w: %s lies inside the data directory %s", ErrPlace, at, real)
		}
	}
	for name := range strings.SplitSeq(filepath.ToSlash(at), "/") {
		if name != "" && !object.SafeName(name) && filepath.VolumeName(at) != name {
			return fmt.Errorf("%w: %s lies inside the files of a git repository", ErrPlace, at)
		}
	}
	return nil
}

// checkLeftOut refuses a path inside the root, unless captures leave out both the copy and the sibling
// in which it is made.
func (r *Copier) checkLeftOut(ctx context.Context, at string) error {
	rel, err := filepath.Rel(r.Root, at)
	if err != nil || rel == "." {
		return fmt.Errorf("%w: %s is the directory itself", ErrPlace, at)
	}
	return r.Exclusive(ctx, func(l *history.Locked) error {
		for _, place := range []string{rel, apply.AsideName(rel)} {
			leftOut, err := r.LeavesOut(l, filepath.ToSlash(place))
			if err != nil {
				return err
			}
			if !leftOut {
				return fmt.Errorf("%w: %s lies inside %s, whose checkpoints would hold %s; name a directory beside the root, or one below an ignored directory", ErrPlace, at, r.Root, place)
			}
		}
		return nil
	})
}
