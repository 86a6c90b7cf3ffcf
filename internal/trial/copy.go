package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// Copy is a directory that holds the files of one checkpoint after another. Nothing that it does leaves
// the directory: os.Root follows no symlink out of it.
type Copy struct {
	repo *cairn.Repo
	home string // holds the files; the owner is named beside it
	root *os.Root
	have map[string]laid // by path
}

// laid is a file, symlink or directory as it was laid out.
type laid struct {
	history.DirEntry
	stat dir.Info // changes with the file: a command that puts its times back cannot put back that of the change
}

// NewCopy makes an empty copy below a directory, and removes those of dead processes there.
func NewCopy(repo *cairn.Repo, below string) (*Copy, error) {
	home, err := makeHome(below)
	if err != nil {
		return nil, err
	}
	files := filepath.Join(home, filesName)
	if err := os.Mkdir(files, 0o700); err != nil {
		return nil, errors.Join(err, removeHome(home))
	}
	root, err := os.OpenRoot(files)
	if err != nil {
		return nil, errors.Join(err, removeHome(home))
	}
	return &Copy{repo: repo, home: home, root: root, have: make(map[string]laid)}, nil
}

// Dir returns the path of the files.
func (c *Copy) Dir() string { return c.root.Name() }

// Remove removes the copy.
func (c *Copy) Remove() error { return errors.Join(c.root.Close(), removeHome(c.home)) }

// To lays out the files of a checkpoint. Files that the command has made, and that the checkpoint does
// not have, stay.
func (c *Copy) To(ctx context.Context, cp *cairn.Checkpoint) error {
	want := make(map[string]history.DirEntry)
	if err := c.list(cp, "", want); err != nil {
		return err
	}
	if err := c.drop(want); err != nil {
		return err
	}
	paths := make([]string, 0, len(want))
	for p := range want {
		paths = append(paths, p)
	}
	slices.Sort(paths) // a directory before what is in it
	for _, p := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.lay(p, want[p]); err != nil {
			return fmt.Errorf("lay out %s of %s: %w", p, cp.ID[:12], err)
		}
	}
	return nil
}

// list collects the entries of a checkpoint below a directory.
func (c *Copy) list(cp *cairn.Checkpoint, below string, want map[string]history.DirEntry) error {
	entries, err := access.ReadDir(c.repo, cp, below)
	if err != nil {
		return err
	}
	for _, e := range entries {
		p := path.Join(below, e.Name)
		want[p] = e
		if e.Mode == object.Dir {
			if err := c.list(cp, p, want); err != nil {
				return err
			}
		}
	}
	return nil
}

// drop removes the files of the last state that the next one lacks, files before their directories. A
// directory in which the command has made something stays.
func (c *Copy) drop(want map[string]history.DirEntry) error {
	var gone []string
	for p := range c.have {
		if _, ok := want[p]; !ok {
			gone = append(gone, p)
		}
	}
	slices.SortFunc(gone, func(a, b string) int { return cmp.Compare(b, a) })
	for _, p := range gone {
		isDir := c.have[p].Mode == object.Dir
		delete(c.have, p)
		err := c.root.Remove(filepath.FromSlash(p))
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !isDir {
			return err
		}
	}
	return nil
}

// lay makes a path as it is wanted, unless it is still as it was laid out.
func (c *Copy) lay(p string, want history.DirEntry) error {
	name := filepath.FromSlash(p)
	info, err := c.root.Lstat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		if have, ok := c.have[p]; ok && have.DirEntry == want && want.Mode != object.Dir && have.stat == dir.InfoOf(info) {
			return nil
		}
		if want.Mode == object.Dir && info.IsDir() {
			c.have[p] = laid{DirEntry: want}
			return c.root.Chmod(name, dirPerm(want))
		}
		if err := c.root.RemoveAll(name); err != nil {
			return err
		}
	}
	if err := c.make(name, want); err != nil {
		return err
	}
	if info, err = c.root.Lstat(name); err != nil {
		return err
	}
	c.have[p] = laid{want, dir.InfoOf(info)}
	return nil
}

// dirPerm keeps a directory open for this process.
func dirPerm(e history.DirEntry) fs.FileMode { return fs.FileMode(e.Perm)&fs.ModePerm | 0o700 }

func (c *Copy) make(name string, want history.DirEntry) error {
	if want.Mode == object.Dir {
		if err := c.root.Mkdir(name, 0o700); err != nil {
			return err
		}
		return c.root.Chmod(name, dirPerm(want))
	}
	if want.Mode == object.Gitlink {
		return c.root.Mkdir(name, 0o700)
	}
	in, err := access.OpenBlob(c.repo, want.ID)
	if err != nil {
		return err
	}
	defer in.Close()
	if want.Mode == object.Symlink {
		var target strings.Builder
		if _, err := io.Copy(&target, in); err != nil {
			return err
		}
		return c.root.Symlink(target.String(), name)
	}
	out, err := c.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	err = errors.Join(err, out.Close())
	if err != nil {
		return err
	}
	return c.root.Chmod(name, fs.FileMode(want.Perm)&fs.ModePerm)
}
