package odb

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// GonePrefix begins the temporary names of the files of a pack that is being removed. The rest
// of the name is the name of the pack, so that Sweep can finish an interrupted removal: a lone
// file of a pack does not show whether the pack is being made or removed. These files carry no
// claim of a process, because another repository may own the same files, and every process that
// finds them may remove them.
const GonePrefix = pack.TempPrefix + "gone-"

// Retired is a pack that was taken out of the store.
type Retired struct {
	Pack  *pack.Pack
	Files []string // its files, under temporary names
}

// RetirePacks takes packs out of the store by giving their files temporary names, and removes a
// multi-pack-index, which would name them. Call it with the lock held. The caller removes the
// files afterwards, without the lock: removing a large file takes time. Sweep removes them
// otherwise. On Windows a pack that another process has open stays.
func (db *DB) RetirePacks(packs []*pack.Pack) (retired []Retired, err error) {
	if err := removeMultiPackIndex(db.path(packDir)); err != nil {
		return nil, err
	}
	if onWindows {
		db.forget(packs) // which closes them
	}
	for _, p := range packs {
		files, rerr := retire(p)
		if len(files) > 0 {
			retired = append(retired, Retired{p, files})
		}
		err = errors.Join(err, atomicfile.IgnoreInUse(rerr))
	}
	// Only now: a reader that finds a pack closed lists the packs again, and must not find
	// the pack there.
	db.forget(packs)
	return retired, err
}

// retire gives the files of a pack temporary names. Before that it removes the files that git
// may have put beside them.
func retire(p *pack.Pack) (files []string, err error) {
	for _, ext := range []string{".rev", ".bitmap", ".mtimes", ".promisor", pack.KeepExt} {
		if err := atomicfile.IgnoreInUse(atomicfile.RemoveIfThere(p.Stem + ext)); err != nil {
			return nil, err
		}
	}
	idx := filepath.Join(filepath.Dir(p.Stem), GonePrefix+strings.TrimPrefix(p.Name(), pack.Prefix))
	if err := os.Rename(p.Stem+pack.IndexExt, idx); err != nil {
		return nil, err
	}
	body := idx + pack.Ext
	err = os.Rename(p.Stem+pack.Ext, body)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err // Sweep removes the rest
	}
	return []string{idx, body}, nil
}

// removeMultiPackIndex removes git's multi-pack-index. Git works without one, and makes another
// when a user asks for it.
func removeMultiPackIndex(dir string) error {
	names, err := readNames(dir)
	for _, name := range names {
		if strings.HasPrefix(name, "multi-pack-index") && !strings.HasSuffix(name, ".lock") {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
		}
	}
	return err
}
