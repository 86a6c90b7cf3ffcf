package odb

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// knownFiles and knownDirs are the names that git and cairn use at the top of a store,
// packFiles the extensions of the files of a pack.
var (
	knownFiles = []string{"HEAD", "config", "description", "packed-refs", "shallow", "FETCH_HEAD", "ORIG_HEAD", "gc.log", "gc.pid"}
	knownDirs  = []string{"cairn", "refs", "info", "hooks", "logs", "branches", "objects"}
	packFiles  = []string{pack.Ext, pack.IndexExt, ".rev", ".bitmap", ".keep", ".promisor", ".mtimes"}
)

// FileName reports whether a path inside a store, with slashes, is the path of a file, where a
// directory does not belong.
func FileName(rel string) bool {
	dir, name := path.Split(rel)
	switch dir {
	case "":
		return slices.Contains(knownFiles, name)
	case privateDir + "/":
		return !slices.Contains([]string{"journal", "damaged", KeptDir}, name) && !strings.HasSuffix(name, AsideSuffix)
	case privateDir + "/journal/", "objects/pack/":
		return true
	}
	_, err := object.ParseID(path.Base(dir) + name)
	return strings.HasPrefix(dir, "objects/") && err == nil
}

// KnownName reports whether git or cairn gives a file this path inside a store, with slashes.
// Temporary files and locks are not known.
func KnownName(rel string) bool {
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
