package fsck

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

const repairRemake = "make it again"

// layout reports missing and damaged parts of the layout that every store has.
func (c *checker) layout() error {
	dirs, files := c.db.Skeleton()
	for _, name := range dirs {
		info, err := os.Stat(c.path(name))
		if err == nil && !info.IsDir() {
			err = errors.New("not a directory")
		}
		if err != nil {
			if err := c.report(Fault{Kind: FaultLayout, Path: c.path(name), Err: err, Repair: repairRemake}); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := c.checkFile(name, files[name]); err != nil {
			if err := c.report(Fault{Kind: FaultLayout, Path: c.path(name), Err: err, Repair: repairRemake}); err != nil {
				return err
			}
		}
	}
	if _, err := c.db.Shallow(); err != nil {
		return c.report(Fault{Kind: FaultLayout, Path: c.path("shallow"), Err: err, Repair: "set it aside and keep what can be read of it"})
	}
	return nil
}

// checkFile compares a file of the layout with the contents that it has in a new store.
func (c *checker) checkFile(name, want string) error {
	path := c.path(name)
	if path == c.db.PrivatePath("lock") { // no process reads it
		info, err := os.Lstat(path)
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s: %w", path, atomicfile.ErrNotRegular)
		}
		return err
	}
	data, err := atomicfile.Read(path)
	if err != nil || string(data) == want {
		return err
	}
	switch {
	case name == "HEAD":
		err = c.checkHead(data)
	case name == "config":
		err = checkConfig(string(data), want)
	case path == c.db.PrivatePath("version") && odb.KnownVersion(strings.TrimSpace(string(data))):
		// The next holder of the lock writes it again.
	default:
		err = pack.Corrupt("it holds %.80q", data)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// checkHead accepts a HEAD that leads to an object.
func (c *checker) checkHead(data []byte) error {
	id, err := c.db.Ref("HEAD")
	if err != nil {
		return pack.Corrupt("HEAD leads nowhere: %.80q", data)
	}
	if ok, err := c.db.Has(id); err != nil || !ok {
		return pack.Corrupt("HEAD leads to %s, which is not there", id)
	}
	return nil
}

// newLine of the configuration is absent in stores of earlier releases.
const newLine = "\tpruneExpire = never\n"

// checkConfig accepts settings beside the ones that a store needs.
func checkConfig(text, needed string) error {
	for line := range strings.Lines(needed) {
		if line != newLine && !slices.Contains(strings.Split(text, "\n"), strings.TrimSuffix(line, "\n")) {
			return pack.Corrupt("the line %q is missing", strings.TrimSpace(line))
		}
	}
	return nil
}

// files checks the name and the permissions of every file.
func (c *checker) files() error {
	return filepath.WalkDir(c.db.Dir(), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			if atomicfile.IsNoFile(err) {
				return nil // another process has removed it
			}
			err = c.report(Fault{Kind: FaultUnknown, Path: path, Err: err})
			if err == nil && e != nil && e.IsDir() {
				err = fs.SkipDir
			}
			return err
		}
		info, err := e.Info()
		if err != nil {
			return nil // another process has removed it
		}
		rel, _ := filepath.Rel(c.db.Dir(), path)
		name := filepath.ToSlash(rel)
		if e.IsDir() && odb.FileName(name) {
			return cmp.Or(c.notRegular(name, path, info), fs.SkipDir)
		}
		if !e.IsDir() && !info.Mode().IsRegular() {
			return c.notRegular(name, path, info)
		}
		if err := c.mode(path, info); err != nil {
			return err
		}
		if e.IsDir() {
			if strings.HasSuffix(name, odb.AsideSuffix) || name == "cairn/damaged" || name == "cairn/"+odb.KeptDir {
				return fs.SkipDir // a quarantine, files that a repair has set aside, or files of another repository
			}
			return nil
		}
		return c.name(name, path, info)
	})
}

// mode reports a file that other users may read or write. On Windows the directories above decide
// that. The permissions of a borrowed pack belong to its lender.
func (c *checker) mode(path string, info fs.FileInfo) error {
	if runtime.GOOS == "windows" || info.Mode()&fs.ModeSymlink != 0 || info.Mode().Perm()&0o077 == 0 || odb.Lent(path, info) {
		return nil
	}
	return c.report(Fault{
		Kind: FaultMode, Path: path, Err: fmt.Errorf("permissions %#o", info.Mode().Perm()), Repair: "take the permissions away from others",
	})
}

// gitTempAge is the age from which a temporary file of git's counts as left behind. It does not
// show whether its writer lives.
const gitTempAge = time.Hour

// name reports a file by its name: a leftover of a dead writer, or a file of no known kind.
func (c *checker) name(rel, path string, info fs.FileInfo) error {
	base := filepath.Base(path)
	switch {
	case strings.HasPrefix(base, odb.GonePrefix):
	case strings.HasPrefix(base, atomicfile.Prefix), strings.HasPrefix(base, pack.TempPrefix):
		if isClaimed(path) {
			return nil
		}
	case strings.HasPrefix(base, "tmp_") && strings.HasPrefix(rel, "objects/"), strings.HasSuffix(base, ".lock") && !strings.HasPrefix(rel, "cairn/"):
		if time.Since(info.ModTime()) < gitTempAge {
			return nil
		}
	case odb.KnownName(rel):
		return nil
	default:
		return c.report(Fault{Kind: FaultUnknown, Path: path, Err: errors.New("not a file that a store has")})
	}
	return c.report(Fault{Kind: FaultTemporary, Path: path, Err: errors.New("left behind by a process that died"), Repair: "remove it"})
}

// notRegular reports a directory, a link or a special file in the place of a regular file. The check
// of the layout reports its own files.
func (c *checker) notRegular(rel, path string, info fs.FileInfo) error {
	_, files := c.db.Skeleton()
	if _, known := files[filepath.FromSlash(rel)]; known {
		return nil
	}
	return c.report(Fault{
		Kind: FaultUnknown, Path: path,
		Err: fmt.Errorf("%w: %s", atomicfile.ErrNotRegular, info.Mode()), Repair: repairAside,
	})
}

// isClaimed reports whether the writer of a temporary file of cairn's lives. On Windows only Sweep
// can tell, and every file counts as claimed.
func isClaimed(path string) bool {
	if runtime.GOOS == "windows" {
		return true
	}
	fl := flock.New(path, flock.SetFlag(os.O_RDWR))
	defer fl.Close()
	free, err := fl.TryLock()
	return !free || err != nil
}
