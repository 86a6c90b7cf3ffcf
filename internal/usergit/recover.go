package usergit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/process"
)

// Names in the directory of a Scratch.
const (
	scratchPrefix = "commit-"
	noteFile      = "note.json"
	beforeFile    = "index-before" // the user's index before a commit
	stagedFile    = "index-staged" // with the changes of the commit
)

// note tells a later process whose directory it finds, and the operation that was under way.
type note struct {
	Owner  process.ID
	GitDir string
	Head   Head // on which a commit was to be made, zero for none
}

func (s *Scratch) note(head Head) error {
	owner, _ := process.Self() // unknown: no process takes the directory for a dead one's
	text, err := json.Marshal(note{owner, s.repo.GitDir, head})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, noteFile), text, 0o600)
}

// noteIndex keeps the user's index before it gets the changes of a commit.
func (s *Scratch) noteIndex(base *Base) error {
	before := filepath.Join(s.dir, beforeFile)
	if err := errors.Join(os.RemoveAll(before), base.Index.copyTo(before)); err != nil {
		return err
	}
	return s.note(base.Head)
}

// Recover finishes what processes that are dead have left below a directory: where the commit was
// not made and the index still has its changes, the index is put back.
func (r *Repo) Recover(ctx context.Context, within string) error {
	list, err := os.ReadDir(within)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range list {
		if !strings.HasPrefix(entry.Name(), scratchPrefix) {
			continue
		}
		if err := r.finish(ctx, filepath.Join(within, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// unnoted is how long a directory may be without its note.
const unnoted = time.Hour

// finish finishes what is in one directory.
func (r *Repo) finish(ctx context.Context, dir string) error {
	var left note
	text, err := os.ReadFile(filepath.Join(dir, noteFile))
	if err != nil || json.Unmarshal(text, &left) != nil {
		if info, err := os.Stat(dir); err != nil || time.Since(info.ModTime()) < unnoted {
			return nil
		}
		return os.RemoveAll(dir)
	}
	if left.GitDir != r.GitDir || left.Owner.State() != process.Dead {
		return nil
	}
	if err := r.putBack(ctx, dir, left.Head); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// putBack puts the index back, unless HEAD or the index has changed since.
func (r *Repo) putBack(ctx context.Context, dir string, head Head) error {
	now, err := r.Head(ctx)
	if err != nil || now != head {
		return err
	}
	if _, err := os.Lstat(filepath.Join(dir, stagedFile)); err != nil {
		return nil // no entry was to change
	}
	if err := r.unstage(ctx, dir); !errors.Is(err, ErrMoved) {
		return err
	}
	return nil
}

// unstage gives the index back its contents from before a commit, if it still has the entries that it
// was given. git status may have written it meanwhile, with other times of files.
func (r *Repo) unstage(ctx context.Context, dir string) error {
	before, err := readIndex(filepath.Join(dir, beforeFile))
	if err != nil {
		return err
	}
	now, err := readIndex(r.indexPath())
	if err != nil {
		return err
	}
	var lists [2]string
	for i, index := range []string{r.indexPath(), filepath.Join(dir, stagedFile)} {
		out, err := r.output(ctx, call{args: []string{"ls-files", "-s", "-z"}, env: []string{indexFile + index}})
		if err != nil {
			return err
		}
		lists[i] = string(out)
	}
	if lists[0] != lists[1] {
		return fmt.Errorf("%w: the index has changed", ErrMoved)
	}
	return r.replaceIndex(&now, &before)
}
