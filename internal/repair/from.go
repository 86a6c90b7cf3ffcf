package repair

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/envelope"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/transfer"
)

// everyLine are the refspecs for a search for lost objects: the lines of every project, because the
// root may have had another path, and the branches and tags of the user.
var everyLine = []string{"+" + history.RefRoot + "*:" + transfer.RefIncoming + "cairn/*", "+refs/heads/*:" + transfer.RefIncoming + "heads/*", "+refs/tags/*:" + transfer.RefIncoming + "tags/*"}

// wantedArgs switch git's checks off: of the fetched objects, only those are used whose ids the
// store knows already.
var wantedArgs = []string{"-c", "fetch.fsckObjects=false", "-c", "transfer.fsckObjects=false", "-c", "fetch.unpackLimit=1",
	"fetch", "--no-tags", "--recurse-submodules=no"}

// fromPlaces opens the store, the repository or the directory of stores that the user names. A
// local directory of objects is read directly. Anything else is fetched with git. Sealed lines are
// opened where the options have an identity.
func (r *Doctor) fromPlaces(ctx context.Context, from string) (places []place, err error) {
	dirs := objectDirsIn(from)
	local := transfer.IsLocal(from) && len(dirs) > 0
	if local {
		for _, dir := range dirs {
			places = appendObjects(places, from, dir)
		}
		if !hasSealed(from) {
			return places, nil
		}
	}
	more, err := r.fetchedPlace(ctx, from, local)
	if err != nil && local && !errors.Is(err, settings.ErrIdentity) { // its objects are a place without
		r.Log.Warn("sealed lines were not looked at", "error", err)
		err = nil
	}
	return append(places, more...), err
}

// fetchedPlace lets git fetch what a remote has, or only what lies sealed there.
func (r *Doctor) fetchedPlace(ctx context.Context, from string, onlySealed bool) ([]place, error) {
	m, err := transfer.OpenRemote(r.Store, from)
	if err != nil {
		return nil, err
	}
	q, err := r.DB.QuarantineAlone()
	if err != nil {
		return nil, err
	}
	if !onlySealed {
		_, err = m.Run(ctx, q.Dir(), wantedArgs[:len(wantedArgs):len(wantedArgs)], everyLine)
	}
	if err == nil {
		err = m.OpenSealed(ctx, r.Store, q)
	}
	if err != nil {
		q.Discard()
		return nil, fmt.Errorf("look for lost objects in %s: %w", m, err)
	}
	q.PackNames() // reads the names of the packs that git has written
	return []place{{name: m.String(), open: q.DB.Open, close: q.Discard}}, nil
}

// hasSealed reports whether a repository on this machine may have sealed lines. A store has none.
func hasSealed(dir string) bool {
	for _, dir := range []string{dir, filepath.Join(dir, ".git")} {
		for _, name := range []string{"packed-refs", "reftable"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				return true
			}
		}
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(envelope.RefNotes))); err == nil {
			return true
		}
	}
	return false
}

// objectDirsIn lists the object directories of a path that may be a store, a bare repository, a
// work tree, or a directory of stores.
func objectDirsIn(path string) (dirs []string) {
	stores := []string{path, filepath.Join(path, ".git")}
	for _, dir := range []string{path, StoresIn(path)} {
		more, err := odb.List(dir)
		if err == nil {
			stores = append(stores, more...)
		}
	}
	for _, dir := range stores {
		if info, err := os.Stat(filepath.Join(dir, "objects", "pack")); err == nil && info.IsDir() {
			dirs = append(dirs, filepath.Join(dir, "objects"))
		}
	}
	return dirs
}
