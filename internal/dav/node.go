package dav

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"path"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// node is a file or a directory. It implements fs.FileInfo, webdav.ETager and webdav.ContentTyper.
type node struct {
	name string
	time time.Time
	dir  dir // nil for a file

	mode object.Mode
	perm uint16
	size int64
	id   object.ID // of the content
	open func() (io.ReadCloser, error)
}

// dir is the content of a directory.
type dir interface {
	list() ([]*node, error)
	find(name string) (*node, error) // the error wraps cairn.ErrNotFound
}

func absent(path string) error { return fmt.Errorf("%w: %s", cairn.ErrNotFound, path) }

func (n *node) Name() string { return n.name }
func (n *node) Size() int64  { return n.size }
func (n *node) IsDir() bool  { return n.dir != nil }
func (n *node) Sys() any     { return nil }

// ModTime is the beginning of 1970 for the top and for projects, which have no date. Clients cannot use the year 1.
func (n *node) ModTime() time.Time {
	if n.time.IsZero() {
		return time.Unix(0, 0)
	}
	return n.time
}

// Mode gives a symlink the mode of a file: its content is the target.
func (n *node) Mode() fs.FileMode {
	if n.dir != nil {
		return fs.ModeDir | 0o555
	}
	return fs.FileMode(n.perm) &^ 0o222
}

// ETag implements webdav.ETager.
func (n *node) ETag(context.Context) (string, error) { return `"` + n.id.String() + `"`, nil }

// SymlinkType is the type that desktops give to symlinks.
const SymlinkType = "inode/symlink"

// ContentType implements webdav.ContentTyper. It goes by the name alone: a listing reads no contents.
func (n *node) ContentType(context.Context) (string, error) {
	if n.mode == object.Symlink {
		return SymlinkType, nil
	}
	if t := mime.TypeByExtension(path.Ext(n.name)); t != "" {
		return t, nil
	}
	return "application/octet-stream", nil
}

// IsSymlink reports whether a file of an FS is a symlink of the checkpoint.
func IsSymlink(info fs.FileInfo) bool {
	n, ok := info.(*node)
	return ok && n.mode == object.Symlink
}
