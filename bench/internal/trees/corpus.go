package trees

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// Corpus is where trees to measure on come from. All trees that it makes are equal.
type Corpus interface {
	Name() string
	Fill(dir string) error // makes the tree in an empty directory
	Size() (TreeSize, error)
}

// tooLarge is the size above which files of a corpus are left out: cairn by its
// default does not capture them, git does, and the ids of the trees would differ.
const tooLarge = 32 << 20

// Copied is the copy of a directory, without ".git" at any level, without special
// files and without files above tooLarge. The directory itself is only read.
type Copied struct {
	Title, Dir string
}

// Name is the name for people.
func (c Copied) Name() string { return c.Title }

// Size is that of the files that git would look at.
func (c Copied) Size() (TreeSize, error) { return WorkTreeSize(c.Dir) }

// Fill copies the tree to dir.
func (c Copied) Fill(dir string) error {
	var files []string
	err := filepath.WalkDir(c.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(c.Dir, path)
		switch {
		case err != nil:
			return err
		case d.Name() == ".git" && d.IsDir():
			return filepath.SkipDir
		case d.Name() == ".git":
			return nil
		case d.IsDir():
			return os.MkdirAll(filepath.Join(dir, rel), 0o755)
		}
		files = append(files, rel)
		return nil
	})
	if err != nil {
		return fmt.Errorf("copy %s: %w", c.Dir, err)
	}
	return system.InParallel(len(files), func(i int) error {
		from := filepath.Join(c.Dir, files[i])
		if info, err := os.Lstat(from); err != nil || info.Size() > tooLarge {
			return err
		}
		return copyFile(from, filepath.Join(dir, files[i]))
	})
}

// copyFile copies a file with its permission bits and time, or a symlink.
func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case !info.Mode().IsRegular():
		return nil
	}
	if err := copyBytes(from, to, info.Mode().Perm()|0o600); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

func copyBytes(from, to string, perm fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// TreeSize is what lies in a directory.
type TreeSize struct {
	Files     int   `json:"files"`
	Dirs      int   `json:"dirs"`
	Bytes     int64 `json:"bytes"`
	Allocated int64 `json:"allocated"` // bytes of disk space; equal to Bytes where the system does not tell

	// Shared are the bytes of disk space, among Allocated, of files that have a name elsewhere, too.
	Shared int64 `json:"shared,omitempty"`
}

// Own are the bytes of disk space that are free when the directory goes.
func (s *TreeSize) Own() int64 { return s.Allocated - s.Shared }

// SizeOf counts files and bytes below dir, as far as they stay there.
func SizeOf(dir string) (TreeSize, error) { return sizeWithout(dir, "") }

// WorkTreeSize is SizeOf without a ".git" at the top.
func WorkTreeSize(dir string) (TreeSize, error) { return sizeWithout(dir, filepath.Join(dir, ".git")) }

func sizeWithout(dir, left string) (size TreeSize, err error) {
	linked := make(map[system.FileID]*linkedFile)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if path == left {
			return filepath.SkipDir
		}
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if path != dir && errors.Is(err, fs.ErrNotExist) {
			return nil // a store is tidied while no contender waits for it
		}
		if err != nil {
			return err
		}
		if d.IsDir() {
			size.Allocated += system.Allocated(info)
			size.Dirs++
			return nil
		}
		size.Files++
		size.Bytes += info.Size()
		id, links := system.Links(info)
		if f := linked[id]; f != nil {
			f.elsewhere--
			return nil
		}
		size.Allocated += system.Allocated(info)
		if links > 1 {
			linked[id] = &linkedFile{links - 1, system.Allocated(info)}
		}
		return nil
	})
	for _, f := range linked {
		if f.elsewhere > 0 {
			size.Shared += f.allocated
		}
	}
	return size, err
}

// linkedFile is a file of several names.
type linkedFile struct {
	elsewhere uint64 // names that were not met yet
	allocated int64
}

// ReadAll reads the regular ones of the files, which are given as paths from dir, so
// that they are in the page cache, and returns the number of bytes.
func ReadAll(dir string, files []string) (int64, error) {
	var total atomic.Int64
	err := system.InParallel(len(files), func(i int) error {
		name := filepath.Join(dir, filepath.FromSlash(files[i]))
		if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		n, err := io.Copy(io.Discard, f)
		total.Add(n)
		return err
	})
	return total.Load(), err
}
