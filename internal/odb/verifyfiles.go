package odb

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
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
	for _, name := range slices.Sorted(maps.Keys(c.db.skeleton())) {
		if err := c.db.checkFile(name); err != nil {
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

// checkFile compares a file of the layout with what it has to hold.
func (db *DB) checkFile(name string) error {
	path := db.path(name)
	want := db.skeleton()[name]
	if name == lockFile { // only its kind matters: it is never read
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
		err = db.checkHead(data)
	case name == "config":
		err = checkConfig(string(data))
	default:
		err = pack.Corrupt("it holds %.80q", data)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// checkHead accepts a HEAD that leads to an object.
func (db *DB) checkHead(data []byte) error {
	if _, _, err := parseRef(data); err != nil {
		return err
	}
	id, err := db.Ref("HEAD")
	if err != nil {
		return pack.Corrupt("HEAD leads nowhere: %.80q", data)
	}
	if ok, err := db.Has(id); err != nil || !ok {
		return pack.Corrupt("HEAD leads to %s, which is not there", id)
	}
	return nil
}

// checkConfig accepts settings beside those that a store needs.
func checkConfig(text string) error {
	for line := range strings.Lines(config) {
		if !slices.Contains(strings.Split(text, "\n"), strings.TrimSuffix(line, "\n")) {
			return pack.Corrupt("the line %q is missing", strings.TrimSpace(line))
		}
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
		if e.IsDir() && isFileName(filepath.ToSlash(rel)) {
			return cmp.Or(c.notRegular(filepath.ToSlash(rel), path, info), fs.SkipDir)
		}
		if !e.IsDir() && !info.Mode().IsRegular() {
			return c.notRegular(filepath.ToSlash(rel), path, info)
		}
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

// isLent reports whether a file has other names, outside the store, or has had them: the
// lender may have removed its own since, and the permissions stay what they were.
func isLent(path string, info fs.FileInfo) bool {
	if !info.Mode().IsRegular() {
		return false
	}
	return links(path) > 1 || filepath.Base(filepath.Dir(path)) == "pack" && isBorrowed(strings.TrimSuffix(path, filepath.Ext(path)))
}

// gitTempAge is from when on a temporary file of git's, which does not show whether
// its writer lives, is taken for a dead one's.
const gitTempAge = time.Hour

func (c *checker) name(rel, path string, info fs.FileInfo) error {
	base := filepath.Base(path)
	switch {
	case strings.HasPrefix(base, gonePrefix):
	case strings.HasPrefix(base, atomicfile.Prefix), strings.HasPrefix(base, pack.TempPrefix):
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

// notRegular reports what stands where only regular files belong. The check of the layout
// tells of its own files.
func (c *checker) notRegular(rel, path string, info fs.FileInfo) error {
	if _, known := skeletonFiles[filepath.FromSlash(rel)]; known || rel == filepath.ToSlash(rootFile) {
		return nil
	}
	return c.report(Fault{Kind: FaultUnknown, Path: path, Err: fmt.Errorf("%w: %s", atomicfile.ErrNotRegular, info.Mode()), Repair: repairAside})
}

// isFileName reports whether a path inside the store is that of a file, so that a
// directory does not belong there.
func isFileName(rel string) bool {
	dir, name := path.Split(rel)
	switch dir {
	case "":
		return slices.Contains(knownFiles, name)
	case privateDir + "/":
		return !slices.Contains([]string{"journal", "damaged"}, name) && !strings.HasSuffix(name, asideSuffix)
	case privateDir + "/journal/", "objects/pack/":
		return true
	}
	_, err := object.ParseID(path.Base(dir) + name)
	return strings.HasPrefix(dir, "objects/") && err == nil
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
	packFiles  = []string{pack.Ext, pack.IndexExt, ".rev", ".bitmap", ".keep", ".promisor", ".mtimes"}
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
		return strings.HasPrefix(name, "multi-pack-index") || strings.HasPrefix(name, pack.Prefix) && slices.Contains(packFiles, filepath.Ext(name))
	}
	id, err := object.ParseID(dir + name)
	return err == nil && id.String() == dir+name
}
