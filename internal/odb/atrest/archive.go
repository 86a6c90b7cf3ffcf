package atrest

import (
	"archive/tar"
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

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	packs "github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// privateDir is the directory of the store's private files.
const privateDir = "cairn"

// entry is a file or a directory of a store. The name is the path inside the store, with slashes.
type entry struct {
	name string
	info fs.FileInfo
}

// list returns what a store consists of, directories before their contents. The store may be reached through a link.
// The temporary file of a process that works without the lock is odb.ErrLocked. Anything below but a file or a
// directory is odb.ErrCorrupt, and so is a directory that holds no store. Files in cairn/ whose names begin with own are
// the caller's; "" is for none.
func list(dir, own string) (entries []entry, err error) {
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	var parts contents
	err = filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		info, err := d.Info()
		name := filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case (name == "." || name == privateDir) && info.IsDir() || stays(name):
			return nil
		case own != "" && strings.HasPrefix(name, privateDir+"/"+own):
			return skip(info)
		case isTemporary(path.Base(name)):
			return fmt.Errorf("%w: another process still writes %s; try again when it has ended", odb.ErrLocked, at)
		case !info.IsDir() && !info.Mode().IsRegular():
			return fmt.Errorf("%w: %s is neither a file nor a directory", odb.ErrCorrupt, at)
		}
		parts.note(name, info.IsDir())
		entries = append(entries, entry{name, info})
		return nil
	})
	if err == nil {
		err = parts.check(dir)
	}
	return entries, err
}

func skip(info fs.FileInfo) error {
	if info.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// contents counts the directories without which nothing is a store.
type contents int

func (c *contents) note(name string, isDir bool) {
	if isDir && (name == "objects" || name == "refs") {
		*c++
	}
}

func (c contents) check(where string) error {
	if c != 2 {
		return fmt.Errorf("%w: %s has no directories objects and refs", odb.ErrCorrupt, where)
	}
	return nil
}

// unchanged fails if the files of a store are not those of a list any more: a process that takes no lock has written.
func unchanged(dir string, entries []entry, own string) error {
	now, err := list(dir, own)
	if err != nil {
		return err
	}
	same := func(a, b entry) bool {
		return a.name == b.name && (a.info.IsDir() || a.info.Size() == b.info.Size() && a.info.ModTime().Equal(b.info.ModTime()))
	}
	if !slices.EqualFunc(entries, now, same) {
		return fmt.Errorf("%w: another process has written to %s; try again when it has ended", odb.ErrLocked, dir)
	}
	return nil
}

// stays reports whether a file keeps its place in a sealed store.
func stays(name string) bool {
	dir, base := path.Split(name)
	return dir == privateDir+"/" && (base == odb.SealedName || slices.Contains(odb.AtRest(), base))
}

func isTemporary(base string) bool {
	return strings.HasPrefix(base, atomicfile.Prefix) || strings.HasPrefix(base, packs.TempPrefix)
}

// archive writes the archive of some files. Of their attributes it has the permissions.
func archive(ctx context.Context, w io.Writer, dir string, entries []entry, opt Options) (*Result, error) {
	res := new(Result)
	out := tar.NewWriter(w)
	for i, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := add(out, filepath.Join(dir, filepath.FromSlash(e.name)), e, res); err != nil {
			return nil, err
		}
		if opt.Progress != nil {
			opt.Progress("seal", i+1, len(entries), res.Bytes)
		}
	}
	return res, out.Close()
}

// add writes one file or directory. A file that was cut meanwhile, or has grown, is an error.
func add(out *tar.Writer, at string, e entry, res *Result) error {
	head := &tar.Header{Name: e.name, Mode: int64(e.info.Mode().Perm()), Typeflag: tar.TypeReg, Size: e.info.Size()}
	if e.info.IsDir() {
		head.Typeflag, head.Size = tar.TypeDir, 0
	}
	if err := out.WriteHeader(head); err != nil || e.info.IsDir() {
		return err
	}
	f, err := atomicfile.Open(at)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, f)
	if err == nil && n != head.Size {
		err = fmt.Errorf("%s changes while it is read", at)
	}
	res.Files++
	res.Bytes += n
	return errors.Join(err, f.Close())
}

// each calls f for everything in an archive. A name that leads out of the store, or stands for what a sealed store
// keeps, is odb.ErrCorrupt: a holder of a recipient alone can make an archive.
func each(in io.Reader, f func(head *tar.Header, content io.Reader) error) (*Result, error) {
	res := new(Result)
	var parts contents
	for from := tar.NewReader(in); ; {
		head, err := from.Next()
		if err == io.EOF {
			return res, parts.check("the archive")
		}
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(head.Name, "/")
		if path.Clean(name) != name || !filepath.IsLocal(filepath.FromSlash(name)) || name == "." || stays(name) || isTemporary(path.Base(name)) ||
			head.Typeflag != tar.TypeReg && head.Typeflag != tar.TypeDir {
			return nil, fmt.Errorf("%w: the archive has %.80q, which belongs to no store", odb.ErrCorrupt, head.Name)
		}
		head.Name = name
		parts.note(name, head.Typeflag == tar.TypeDir)
		if err := f(head, from); err != nil {
			return nil, err
		}
		if head.Typeflag == tar.TypeReg {
			res.Files++
			res.Bytes += head.Size
		}
	}
}

// count reads an archive.
func count(in io.Reader) (*Result, error) {
	return each(in, func(*tar.Header, io.Reader) error { return nil })
}

// unpack writes the files of an archive below an empty directory, and flushes them.
func unpack(in io.Reader, dir string, opt Options) (*Result, error) {
	dirs, files := []string{dir, filepath.Join(dir, privateDir)}, []string(nil)
	if err := os.Mkdir(dirs[1], 0o700); err != nil {
		return nil, err
	}
	res, err := each(in, func(head *tar.Header, content io.Reader) error {
		at := filepath.Join(dir, filepath.FromSlash(head.Name))
		if head.Typeflag == tar.TypeDir {
			dirs = append(dirs, at)
			return os.Mkdir(at, 0o700)
		}
		files = append(files, at)
		return writeNew(at, fs.FileMode(head.Mode).Perm(), content)
	})
	if err != nil || opt.NoSync {
		return res, err
	}
	if err = atomicfile.AtOnce(files, atomicfile.SyncFile); err == nil {
		err = atomicfile.AtOnce(dirs, atomicfile.SyncDir)
	}
	return res, err
}

func writeNew(at string, mode fs.FileMode, content io.Reader) error {
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = io.Copy(f, content); err == nil && mode != 0o600 {
		err = f.Chmod(mode)
	}
	return errors.Join(err, f.Close())
}

// removeOpen removes the files of an open store, and leaves what a sealed one has and temporary files.
func removeOpen(dir string) error {
	return inPlaces(dir, func(name string) error {
		if name == privateDir || stays(name) || isTemporary(path.Base(name)) {
			return nil
		}
		return os.RemoveAll(filepath.Join(dir, filepath.FromSlash(name)))
	})
}

// moveUp moves the files of an open store from a directory into the store.
func moveUp(from, dir string, durable bool) error {
	err := inPlaces(from, func(name string) error {
		if name == privateDir {
			return nil
		}
		return atomicfile.Rename(filepath.Join(from, filepath.FromSlash(name)), filepath.Join(dir, filepath.FromSlash(name)))
	})
	if err != nil || !durable {
		return err
	}
	return errors.Join(atomicfile.SyncDir(dir), atomicfile.SyncDir(filepath.Join(dir, privateDir)))
}

// inPlaces calls f for the names at the top of a store, and for those in cairn/.
func inPlaces(dir string, f func(name string) error) error {
	for _, below := range []string{"", privateDir + "/"} {
		entries, err := os.ReadDir(filepath.Join(dir, below))
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := f(below + e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}
