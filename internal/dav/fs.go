package dav

import (
	"context"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/net/webdav"

	"github.com/seed-fb9cbc17/cairn"
)

// FS is the file system of one request. It implements webdav.FileSystem. It is not for several
// goroutines.
type FS struct {
	top     dir
	readers *Readers
	listed  map[string]*node         // by path; what a listing has found is asked for again at once
	lists   map[string][]fs.FileInfo // by path of the directory
	err     error
}

// New returns the file system of projects. The function open opens one of them by its id.
func New(ctx context.Context, projects Projects, readers *Readers, open func(id string) (*cairn.Repo, error)) *FS {
	return &FS{
		top: &projectDir{ctx: ctx, Projects: projects, open: open}, readers: readers,
		listed: make(map[string]*node), lists: make(map[string][]fs.FileInfo),
	}
}

// Err returns the first error of reading what a listing or a file holds. An answer that had begun
// before is not whole.
func (f *FS) Err() error { return f.err }

// Find reports whether something is at a path. The error wraps cairn.ErrNotFound if nothing is.
func (f *FS) Find(path string) (fs.FileInfo, error) { return f.find(path) }

// List reads a directory, so that an answer which lists it cannot fail later.
func (f *FS) List(path string) error {
	n, err := f.find(path)
	if err != nil || n.dir == nil {
		return err
	}
	_, err = f.list(path, n.dir)
	return err
}

// find walks to a path. A listing answers for the paths in it.
func (f *FS) find(path string) (*node, error) {
	path = strings.Trim(path, "/")
	if n := f.listed[path]; n != nil {
		return n, nil
	}
	at := &node{dir: f.top}
	if path == "" {
		return at, nil
	}
	for name := range strings.SplitSeq(path, "/") {
		if at.dir == nil {
			return nil, absent(path)
		}
		next, err := at.dir.find(name)
		if err != nil {
			return nil, err
		}
		at = next
	}
	f.listed[path] = at
	return at, nil
}

// list lists a directory, and keeps what it finds for the questions that follow.
func (f *FS) list(path string, d dir) ([]fs.FileInfo, error) {
	prefix := strings.Trim(path, "/")
	if infos, ok := f.lists[prefix]; ok {
		return infos, nil
	}
	nodes, err := d.list()
	if err != nil {
		return nil, f.failed(err)
	}
	infos := make([]fs.FileInfo, len(nodes))
	for i, n := range nodes {
		f.listed[strings.TrimPrefix(prefix+"/"+n.name, "/")] = n
		infos[i] = n
	}
	f.lists[prefix] = infos
	return infos, nil
}

// failed keeps the first error.
func (f *FS) failed(err error) error {
	if f.err == nil {
		f.err = err
	}
	return err
}

// Stat implements webdav.FileSystem.
func (f *FS) Stat(_ context.Context, name string) (fs.FileInfo, error) {
	n, err := f.find(name)
	if err != nil {
		return nil, f.failed(err)
	}
	return n, nil
}

// OpenFile implements webdav.FileSystem. It reads nothing yet.
func (f *FS) OpenFile(ctx context.Context, name string, flag int, _ os.FileMode) (webdav.File, error) {
	if flag != os.O_RDONLY {
		return nil, os.ErrPermission
	}
	n, err := f.find(name)
	if err != nil {
		return nil, f.failed(err)
	}
	return &file{ctx: ctx, fs: f, path: name, node: n}, nil
}

// Mkdir implements webdav.FileSystem.
func (f *FS) Mkdir(context.Context, string, os.FileMode) error { return os.ErrPermission }

// RemoveAll implements webdav.FileSystem.
func (f *FS) RemoveAll(context.Context, string) error { return os.ErrPermission }

// Rename implements webdav.FileSystem.
func (f *FS) Rename(context.Context, string, string) error { return os.ErrPermission }
