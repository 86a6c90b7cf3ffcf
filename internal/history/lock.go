package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Exclusive runs f with the store's lock held. It first finishes interrupted operations, so no
// other command of cairn is changing the directory while f runs.
func (r *Store) Exclusive(ctx context.Context, f func() error) error {
	return r.Locked(ctx, func() error {
		if time.Since(r.Tidied) >= tidyAfter {
			if err := r.tidy(ctx); err != nil {
				return err
			}
		}
		return f()
	})
}

// tidyAfter is the time after which leftovers of killed processes are searched for again, if no
// other process has held the lock. A process that was killed without the lock has left no more than
// temporary files.
const tidyAfter = 10 * time.Second

// tidy removes temporary files of killed writers and finishes an interrupted operation.
func (r *Store) tidy(ctx context.Context) error {
	if err := r.DB.Sweep(); err != nil {
		return err
	}
	if err := r.Recovery(ctx); err != nil {
		return fmt.Errorf("finish the interrupted operation: %w", err)
	}
	r.Tidied = time.Now()
	return nil
}

// Locked runs f with the store's lock held, without finishing interrupted operations.
func (r *Store) Locked(ctx context.Context, f func() error) (err error) {
	lockCtx, cancel := r.waiting(ctx)
	defer cancel()
	unlock, err := r.DB.Lock(lockCtx)
	if err != nil {
		return err
	}
	if n := r.DB.Disturbances(); n != r.disturbances {
		r.disturbances = n
		r.Disturbed()
	}
	done := false
	defer func() {
		if !done || err != nil {
			r.Tidied = time.Time{}
		}
		err = errors.Join(err, unlock())
	}()
	err = f()
	done = true
	return err
}

// waiting returns the context of the wait for the lock.
func (r *Store) waiting(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.Opt.LockTimeout < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, cmp.Or(r.Opt.LockTimeout, settings.DefaultLockTimeout))
}

// Within reports whether path lies below dir or is dir. Both are clean.
func Within(path, dir string) bool {
	return path == dir || dir == string(filepath.Separator) ||
		strings.HasPrefix(path, dir) && path[len(dir)] == filepath.Separator
}

// Rel returns the '/'-separated path below the root. path is absolute, or relative to the root. The
// root itself is "".
func (r *Store) Rel(path string) (string, error) {
	p := filepath.FromSlash(path)
	if filepath.IsAbs(p) {
		p = r.relAbs(filepath.Clean(p))
	} else if p != "" {
		p = filepath.Clean(p)
	}
	switch {
	case p == ".":
		return "", nil
	case p == "" || !filepath.IsLocal(p) || strings.IndexByte(p, 0) >= 0:
		return "", fmt.Errorf("%w %s: %s", state.ErrOutside, r.Root, path)
	}
	return filepath.ToSlash(p), nil
}

// relAbs cuts the root off an absolute path. It returns "" for a path outside the root. A path that
// names the root through a symlink is resolved as far as its directories exist.
func (r *Store) relAbs(p string) string {
	for _, candidate := range []string{p, resolveExisting(p)} {
		if Within(candidate, r.Root) {
			if rel, err := filepath.Rel(r.Root, candidate); err == nil {
				return rel
			}
		}
	}
	return ""
}

// resolveExisting resolves the symlinks in the existing parents of p, but not p itself.
func resolveExisting(p string) string {
	dir, base := filepath.Split(p)
	dir = filepath.Clean(dir)
	if dir == p {
		return p
	}
	if real, err := realpath.Of(dir); err == nil {
		return filepath.Join(real, base)
	}
	return filepath.Join(resolveExisting(dir), base)
}
