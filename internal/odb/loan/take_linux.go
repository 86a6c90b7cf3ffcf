package loan

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/parallel"
)

func (t *taking) run() error {
	parallel.Run(min(runtime.GOMAXPROCS(0), len(t.parts)), func() {
		for i := t.next.Add(1) - 1; i < int64(len(t.parts)); i = t.next.Add(1) - 1 {
			t.part(t.parts[i])
		}
	})
	if !t.opt.Sync || t.linked.Load() == 0 {
		return nil
	}
	dir, err := os.Open(t.to)
	if err != nil {
		return fmt.Errorf("flush borrowed objects: %w", err)
	}
	defer dir.Close()
	if err := unix.Syncfs(int(dir.Fd())); err != nil {
		return fmt.Errorf("flush borrowed objects in %s: %w", t.to, err)
	}
	return nil
}

// writable are the bits of a file that may be altered in place. Git takes them from its objects.
const writable = 0o222

// noDir is the descriptor of a directory that is not open.
const noDir = -1

// part takes the blobs of one directory of loose objects.
func (t *taking) part(wants []Want) {
	name := wants[0].ID.String()[:2]
	to := noDir
	defer func() { closeDir(to) }()
	for _, dir := range t.from {
		from, err := openDir(filepath.Join(dir, name), 0)
		if err != nil {
			continue // no object begins with these digits there
		}
		for i := range wants {
			if w := &wants[i]; !w.Taken && to != noDir || !w.Taken && t.open(&to, name) {
				w.Taken = t.link(from, to, w)
			}
		}
		closeDir(from)
	}
}

// open makes and opens a directory of the store.
func (t *taking) open(to *int, name string) bool {
	path := filepath.Join(t.to, name)
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return false
	}
	fd, err := openDir(path, unix.O_NOFOLLOW)
	*to = fd
	return err == nil
}

func openDir(path string, flags int) (int, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|flags, 0)
	if err != nil {
		return noDir, err
	}
	return fd, nil
}

func closeDir(fd int) {
	if fd != noDir {
		unix.Close(fd)
	}
}

// link links one blob. If the linked file is not the one that statBlob saw, the link is removed.
func (t *taking) link(from, to int, w *Want) bool {
	name := w.ID.String()[2:]
	seen, ok := t.statBlob(from, name, w.Size)
	if !ok {
		return false
	}
	err := unix.Linkat(from, name, to, name, 0)
	if err != nil && !errors.Is(err, unix.EEXIST) {
		return false // EXDEV, EMLINK, EPERM: another file system, too many links, another owner
	}
	var now unix.Stat_t
	if unix.Fstatat(to, name, &now, unix.AT_SYMLINK_NOFOLLOW) == nil && now.Dev == seen.Dev && now.Ino == seen.Ino {
		t.linked.Add(1)
		return true
	}
	if err == nil { // another process has replaced the object before it was linked
		_ = unix.Unlinkat(to, name, 0)
	}
	return false // after EEXIST the store has an object of its own
}

// statBlob reports whether the file of an object is one to be linked.
func (t *taking) statBlob(dir int, name string, size int64) (st unix.Stat_t, ok bool) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return st, false
	}
	defer unix.Close(fd)
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&writable != 0 {
		return st, false
	}
	kind, n, err := t.opt.Head(file(fd), st.Size)
	return st, err == nil && kind == object.Blob && n == size && t.mayHold(st.Size)
}

// file is an open file without the cost of an os.File: there are a hundred thousand.
type file int

// ReadAt implements io.ReaderAt.
func (f file) ReadAt(p []byte, off int64) (int, error) {
	n, err := unix.Pread(int(f), p, off)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return max(n, 0), err
}
