package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

const repairRemake = "make it again"

// layout looks for what a store must have.
func (c *checker) layout() error {
	for _, name := range skeletonDirs {
		info, err := os.Stat(c.db.path(name))
		if err == nil && !info.IsDir() {
			err = errors.New("not a directory")
		}
		if err != nil {
			if err := c.report(Fault{Kind: FaultLayout, Path: c.db.path(name), Err: err, Repair: repairRemake}); err != nil {
				return err
			}
		}
	}
	for name := range skeletonFiles {
		data, err := os.ReadFile(c.db.path(name))
		if err == nil && len(data) == 0 && name != lockFile {
			err = corrupt("empty file")
		}
		if err == nil && name == "HEAD" {
			_, _, err = parseRef(data)
		}
		if err != nil {
			if err := c.report(Fault{Kind: FaultLayout, Path: c.db.path(name), Err: err, Repair: repairRemake}); err != nil {
				return err
			}
		}
	}
	if _, err := c.db.Shallow(); err != nil {
		return c.report(Fault{Kind: FaultLayout, Path: c.db.path(shallowFile), Err: err, Repair: "set it aside and keep what can be read of it"})
	}
	return nil
}

// files looks at the name and the permissions of every file.
func (c *checker) files() error {
	return filepath.WalkDir(c.db.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			if isNoFile(err) {
				return nil // removed meanwhile
			}
			err = c.report(Fault{Kind: FaultUnknown, Path: path, Err: err})
			if err == nil && e != nil && e.IsDir() {
				err = fs.SkipDir
			}
			return err
		}
		info, err := e.Info()
		if err != nil {
			return nil // likewise
		}
		rel, _ := filepath.Rel(c.db.dir, path)
		if err := c.mode(path, info); err != nil {
			return err
		}
		if e.IsDir() {
			if strings.HasSuffix(rel, asideSuffix) || rel == damagedDir {
				return fs.SkipDir // somebody's quarantine; what Repair has set aside
			}
			return nil
		}
		return c.name(filepath.ToSlash(rel), path, info)
	})
}

// mode reports what others may read or write. Elsewhere than on Unix the directories
// above decide about that, and so they do about borrowed packs: the permissions of
// those belong to the lender.
func (c *checker) mode(path string, info fs.FileInfo) error {
	if onWindows || info.Mode()&fs.ModeSymlink != 0 || info.Mode().Perm()&0o077 == 0 || isLent(path, info) {
		return nil
	}
	return c.report(Fault{
		Kind: FaultMode, Path: path, Err: fmt.Errorf("permissions %#o", info.Mode().Perm()), Repair: "take the permissions away from others",
	})
}

// isLent reports whether a file has other names, outside the store.
func isLent(path string, info fs.FileInfo) bool { return info.Mode().IsRegular() && links(path) > 1 }

// gitTempAge is from when on a temporary file of git's, which does not show whether
// its writer lives, is taken for a dead one's.
const gitTempAge = time.Hour

func (c *checker) name(rel, path string, info fs.FileInfo) error {
	base := filepath.Base(path)
	switch {
	case !info.Mode().IsRegular():
		return c.report(Fault{Kind: FaultUnknown, Path: path, Err: fmt.Errorf("not a regular file: %s", info.Mode())})
	case strings.HasPrefix(base, gonePrefix):
	case strings.HasPrefix(base, atomicfile.Prefix), strings.HasPrefix(base, tempPrefix):
		if isClaimed(path) {
			return nil
		}
	case strings.HasPrefix(base, "tmp_") && strings.HasPrefix(rel, "objects/"), strings.HasSuffix(base, ".lock") && !strings.HasPrefix(rel, "cairn/"):
		if time.Since(info.ModTime()) < gitTempAge {
			return nil
		}
	case isKnown(rel):
		return nil
	default:
		return c.report(Fault{Kind: FaultUnknown, Path: path, Err: errors.New("not a file that a store has")})
	}
	return c.report(Fault{Kind: FaultTemporary, Path: path, Err: errors.New("left behind by a process that died"), Repair: "remove it"})
}

// isClaimed reports whether the writer of a temporary file of ours lives, as far as
// that shows. It does not on Windows, where only Sweep can tell.
func isClaimed(path string) bool {
	if onWindows {
		return true
	}
	fl := flock.New(path, flock.SetFlag(os.O_RDWR))
	defer fl.Close()
	free, err := fl.TryLock()
	return !free || err != nil
}

// knownFiles and knownDirs are what git and we put at the top of a store.
var (
	knownFiles = []string{"HEAD", "config", "description", "packed-refs", "shallow", "FETCH_HEAD", "ORIG_HEAD", "gc.log", "gc.pid"}
	knownDirs  = []string{"cairn", "refs", "info", "hooks", "logs", "branches", "objects"}
	packFiles  = []string{packExt, idxExt, ".rev", ".bitmap", ".keep", ".promisor", ".mtimes"}
)

func isKnown(rel string) bool {
	top, rest, below := strings.Cut(rel, "/")
	if !below {
		return slices.Contains(knownFiles, top)
	}
	if top == "refs" {
		return checkRefName(rel) == nil
	}
	if top != "objects" {
		return slices.Contains(knownDirs, top)
	}
	dir, name, _ := strings.Cut(rest, "/")
	switch dir {
	case "info":
		return true
	case "pack":
		return strings.HasPrefix(name, "multi-pack-index") || strings.HasPrefix(name, packPrefix) && slices.Contains(packFiles, filepath.Ext(name))
	}
	id, err := object.ParseID(dir + name)
	return err == nil && id.String() == dir+name
}
