package repair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// place is a source of lost objects.
type place struct {
	name    string
	prepare func(context.Context, *mender) error // nil = nothing to prepare
	open    func(object.ID) (object.Kind, int64, io.ReadCloser, error)
	close   func() error // nil = nothing to close
}

func closePlaces(places []place) {
	for _, p := range places {
		if p.close != nil {
			p.close()
		}
	}
}

// places lists the places to search for lost objects, the cheapest first. A place that cannot be
// opened is left out, except for CheckOptions.From.
func (r *Doctor) places(ctx context.Context, opt CheckOptions) (places []place, err error) {
	if a, err := r.DB.Aside(); err == nil {
		places = append(places, place{name: "what was set aside", open: a.Open, close: a.Close})
	}
	if !IsMissing(r.Root) {
		places = append(places, r.capturedPlace(), r.diskPlace())
		for _, dir := range r.userObjects() {
			places = appendObjects(places, "the project's repository", dir)
		}
	}
	for _, dir := range r.otherStores() {
		places = appendObjects(places, "the store "+dir, filepath.Join(dir, "objects"))
	}
	if opt.From == "" {
		return places, nil
	}
	more, err := r.fromPlaces(ctx, opt.From)
	return append(places, more...), err
}

// appendObjects adds a directory of objects, if it can be opened.
func appendObjects(places []place, name, dir string) []place {
	db, err := odb.OpenObjects(dir)
	if err != nil {
		return places
	}
	return append(places, place{name: name, open: db.Open, close: db.Close})
}

// userObjects lists the object directories of the user's own repository.
func (r *Doctor) userObjects() []string {
	repo := r.Repository()
	if repo == nil || repo.SHA256 {
		return nil
	}
	return repo.ObjectDirs()
}

// otherStores lists the other stores of the same data directory.
func (r *Doctor) otherStores() (dirs []string) {
	all, err := odb.List(filepath.Dir(r.DB.Dir()))
	if err != nil {
		return nil
	}
	for _, dir := range all {
		if dir != r.DB.Dir() {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// capturedPlace captures the disk again, without the stat cache. The capture stores every file and
// directory that has not changed since the loss. The place itself holds no objects.
func (r *Doctor) capturedPlace() place {
	prepare := func(ctx context.Context, m *mender) error {
		if m.dry() || m.captured || r.Enabled() != nil {
			return nil
		}
		m.captured = true
		before := m.lost
		c, err := r.Capture(ctx, m.lock, capture.Options{})
		if err == nil {
			err = c.Publish(ctx, m.lock)
			c.Discard()
		}
		if err != nil {
			r.Log.Warn("the disk was not captured", "error", err)
		}
		m.reset()
		if err := m.walk(ctx); err != nil {
			return err
		}
		for id := range before {
			if _, still := m.lost[id]; !still {
				m.back[id] = "the disk"
			}
		}
		return nil
	}
	return place{name: "the disk", prepare: prepare, open: emptyPlace}
}

func emptyPlace(id object.ID) (object.Kind, int64, io.ReadCloser, error) {
	return 0, 0, nil, fmt.Errorf("object %s: %w", id, odb.ErrNotFound)
}

// diskPlace holds the files of the root whose contents are a lost blob, whatever their present
// paths and the ignore rules are. It reads every file once.
func (r *Doctor) diskPlace() place {
	var files map[object.ID]string
	prepare := func(ctx context.Context, m *mender) (err error) {
		if files == nil && len(m.lost) > 0 {
			files, err = r.hashFiles(ctx, m)
		}
		return err
	}
	open := func(id object.ID) (object.Kind, int64, io.ReadCloser, error) {
		path, ok := files[id]
		if !ok {
			return emptyPlace(id)
		}
		in, size, err := openContent(path)
		return object.Blob, size, in, err
	}
	return place{name: "the disk", prepare: prepare, open: open}
}

// hashFiles finds the files with the contents of a lost blob. It leaves out files that cannot be
// read.
func (r *Doctor) hashFiles(ctx context.Context, m *mender) (map[object.ID]string, error) {
	found := make(map[object.ID]string)
	err := filepath.WalkDir(r.Root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return nil
		case e.IsDir() && (strings.EqualFold(e.Name(), ".git") || path == r.DB.Dir()):
			return fs.SkipDir
		case e.IsDir() || !e.Type().IsRegular() && e.Type()&fs.ModeSymlink == 0:
			return nil
		}
		id, err := hashFile(path)
		if _, lost := m.lost[id]; err == nil && lost {
			found[id] = path
		}
		return nil
	})
	return found, err
}

func hashFile(path string) (id object.ID, err error) {
	in, size, err := openContent(path)
	if err != nil {
		return id, err
	}
	defer in.Close()
	h := object.NewHash(object.Blob, size)
	_, err = io.Copy(h, in)
	return object.HashID(h), err
}

// openContent opens the contents of a file, or the target of a symlink, as a checkpoint would store
// them.
func openContent(path string) (io.ReadCloser, int64, error) {
	if target, err := os.Readlink(path); err == nil {
		return io.NopCloser(strings.NewReader(target)), int64(len(target)), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
