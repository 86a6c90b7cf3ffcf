package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// RemoveTemps removes the temporary files that a killed Run with this token has left in the
// directories of changes. It removes nothing else.
func RemoveTemps(root, token string, changes []Change) error {
	if !dir.ValidToken(token) {
		return fmt.Errorf("operation token %q: %w", token, fs.ErrInvalid)
	}
	top, err := os.OpenRoot(root)
	if err != nil {
		return fmt.Errorf("temporary files below %s: %w", root, dir.Cause(err))
	}
	defer top.Close()
	w := newExecution(context.Background(), &Executor{}, top, nil, nil).worker()
	defer w.stack.Close()
	var failed []error
	for folder := range writtenFolders(changes) {
		err := w.in(folder, false, func(r *os.Root) error { return removeTempsIn(r, token) })
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, dir.ErrChanged) {
			failed = append(failed, &fs.PathError{Op: "remove temporary files", Path: folder, Err: dir.Cause(err)})
		}
	}
	return errors.Join(append(failed, w.tighten())...)
}

// writtenFolders returns the directories in which changes make temporary files, or put files aside.
func writtenFolders(changes []Change) map[string]bool {
	folders := map[string]bool{}
	for i := range changes {
		c := &changes[i]
		writes := c.Action.Makes() && c.Action != Mkdir || c.Action == Chmod && c.Mode != object.Dir
		if (writes || c.Action == Delete) && CheckPath(c.Path) == nil {
			folders[parentPath(c.Path)] = true
		}
	}
	return folders
}

func removeTempsIn(r *os.Root, token string) error {
	f, err := r.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if t, ok := dir.ParseTempName(name); !ok || t != token {
			continue
		}
		fi, err := r.Lstat(name)
		if err != nil || fi.IsDir() {
			continue // an Executor makes no directory with such a name
		}
		if err := r.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// removeTemp removes a temporary file after an error. Where that fails, as in a directory that only takes
// additions, the error names the file: it is the user's to remove.
func removeTemp(r *os.Root, folder, tmp string, err error) error {
	if rerr := r.Remove(tmp); rerr == nil || errors.Is(rerr, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%w; the temporary file %s could not be removed", dir.Cause(err), index.Join(folder, tmp))
}

// removeOld removes the temporary file of the run that is resumed.
func (w *worker) removeOld(r *os.Root, tmp string) error {
	if err := r.Remove(tmp); err != nil {
		return removeTemp(r, w.stack.Here().Path, tmp, err)
	}
	return nil
}
