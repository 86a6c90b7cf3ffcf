package dav

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/net/webdav"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// file is an open file or directory. It implements webdav.File and webdav.DeadPropsHolder.
type file struct {
	ctx  context.Context
	fs   *FS
	path string
	node *node
	pos  int64 // of the next Read
	in   *reader
	sent bool // directory: it was listed
}

// Stat implements webdav.File.
func (f *file) Stat() (fs.FileInfo, error) { return f.node, nil }

// Readdir implements webdav.File. It lists everything at once.
func (f *file) Readdir(int) ([]fs.FileInfo, error) {
	if f.node.dir == nil || f.sent {
		return nil, os.ErrInvalid
	}
	f.sent = true
	return f.fs.list(f.path, f.node.dir)
}

// Seek implements webdav.File. It reads nothing.
func (f *file) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.pos
	case io.SeekEnd:
		offset += f.node.size
	}
	if offset < 0 {
		return f.pos, os.ErrInvalid
	}
	f.pos = offset
	return offset, nil
}

// Read implements webdav.File. With an error it returns no bytes, so that damaged contents never make
// up a whole answer.
func (f *file) Read(p []byte) (int, error) {
	if f.node.dir != nil {
		return 0, os.ErrInvalid
	}
	if f.pos >= f.node.size {
		return 0, io.EOF
	}
	if err := f.forward(); err != nil {
		return 0, f.fs.failed(err)
	}
	n, err := f.in.Read(p)
	switch {
	case err == io.EOF && f.pos+int64(n) < f.node.size:
		err = io.ErrUnexpectedEOF
	case err == io.EOF:
		err = nil
	}
	if err != nil {
		return 0, f.fs.failed(err)
	}
	f.pos += int64(n)
	return n, nil
}

// skipAtOnce is how many bytes are skipped between two looks at whether the client has gone.
const skipAtOnce = 1 << 20

// forward brings the reader to the position.
func (f *file) forward() (err error) {
	if f.in != nil && f.in.at > f.pos {
		f.fs.readers.park(f.in)
		f.in = nil
	}
	if f.in == nil {
		if f.in, err = f.fs.readers.readerAt(f.node, f.pos); err != nil {
			return err
		}
	}
	for f.in.at < f.pos {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, f.in, min(f.pos-f.in.at, skipAtOnce)); err != nil {
			return errors.Join(err, f.ctx.Err())
		}
	}
	return nil
}

// Close implements webdav.File.
func (f *file) Close() error {
	if f.in != nil {
		f.fs.readers.park(f.in)
		f.in = nil
	}
	return nil
}

// Write implements webdav.File.
func (f *file) Write([]byte) (int, error) { return 0, os.ErrPermission }

// The namespaces of the properties beside those of RFC 4918.
const (
	apacheSpace = "http://apache.org/dav/props/" // "executable", which davfs2 and others know
	ownSpace    = "urn:cairn:dav"
)

// DeadProps implements webdav.DeadPropsHolder: modes and permission bits.
func (f *file) DeadProps() (map[xml.Name]webdav.Property, error) {
	props := make(map[xml.Name]webdav.Property)
	set := func(space, local, value string) {
		var text bytes.Buffer
		_ = xml.EscapeText(&text, []byte(value)) // a buffer takes everything
		name := xml.Name{Space: space, Local: local}
		props[name] = webdav.Property{XMLName: name, InnerXML: text.Bytes()}
	}
	n := f.node
	if n.mode != 0 {
		set(ownSpace, "mode", n.mode.String())
	}
	if n.mode.IsFile() {
		set(apacheSpace, "executable", map[bool]string{true: "T", false: "F"}[n.mode == object.Executable])
	}
	if n.perm != 0 {
		set(ownSpace, "perm", "0"+strconv.FormatUint(uint64(n.perm), 8))
	}
	return props, nil
}

// Patch implements webdav.DeadPropsHolder.
func (f *file) Patch([]webdav.Proppatch) ([]webdav.Propstat, error) { return nil, os.ErrPermission }
