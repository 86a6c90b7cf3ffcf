package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

const (
	tempPrefix = ".cairn-"
	tempSuffix = ".tmp"

	maxToken = 64 // keeps every temporary name far below the 255 bytes of a name
)

// tempName is the temporary name of change n of an operation. It does not contain the target's
// name, which may have the maximum length.
func tempName(token string, n int) string {
	return tempPrefix + token + "-" + strconv.Itoa(n) + tempSuffix
}

// parseTempName returns the token of a temporary name.
func parseTempName(name string) (token string, ok bool) {
	rest, ok := strings.CutPrefix(name, tempPrefix)
	if !ok {
		return "", false
	}
	rest, ok = strings.CutSuffix(rest, tempSuffix)
	dash := strings.LastIndexByte(rest, '-')
	if !ok || dash < 0 || !validToken(rest[:dash]) {
		return "", false
	}
	n, err := strconv.ParseUint(rest[dash+1:], 10, 63)
	return rest[:dash], err == nil && strconv.FormatUint(n, 10) == rest[dash+1:]
}

// isTempName reports whether an Executor gives such names to its temporary files, of any operation.
// These files are no part of a work tree.
func isTempName(name string) bool {
	_, ok := parseTempName(name)
	return ok
}

func validToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' && c != '_' {
			return false
		}
	}
	return s != "" && len(s) <= maxToken
}

// RemoveTemps removes the temporary files that a killed Run with this token has left in the
// directories of changes. It removes nothing else.
func RemoveTemps(root, token string, changes []Change) error {
	if !validToken(token) {
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

// writtenFolders returns the directories in which changes make temporary files.
func writtenFolders(changes []Change) map[string]bool {
	folders := map[string]bool{}
	for i := range changes {
		c := &changes[i]
		writes := c.Action.Makes() && c.Action != Mkdir || c.Action == Chmod && c.Mode != object.Dir
		if writes && CheckPath(c.Path) == nil {
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
		if t, ok := parseTempName(name); !ok || t != token {
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
