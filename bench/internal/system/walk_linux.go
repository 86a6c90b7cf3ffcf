//go:build linux && (amd64 || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x)

package system

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/parallel"
)

// WalkTree lists every directory below root and takes the status of every entry,
// relative to directory handles, without copying a name: nothing that has to look at
// all files can do with less. Directories in skip, '/'-separated, are not entered.
func WalkTree(root string, skip map[string]bool) (Walked, error) {
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Walked{}, err
	}
	defer unix.Close(fd)
	w := &walk{root: fd, skip: skip, queue: []string{"."}}
	w.wake.L = &w.mu
	parallel.Run(runtime.GOMAXPROCS(0), w.work)
	return w.total, w.err
}

// walk is the state that the goroutines share. Directories wait as paths from the
// root, so that no handle stays open longer than its directory is being read.
type walk struct {
	root int
	skip map[string]bool

	mu    sync.Mutex
	wake  sync.Cond
	queue []string
	busy  int
	total Walked
	err   error
}

func (w *walk) work() {
	buf := make([]byte, 64<<10)
	for {
		dir, ok := w.take()
		if !ok {
			return
		}
		dirs, seen, err := w.list(dir, buf)
		w.give(dirs, seen, err)
	}
}

// take waits for a directory. There is none left when the queue is empty and no worker is reading.
func (w *walk) take() (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) == 0 && w.busy > 0 && w.err == nil {
		w.wake.Wait()
	}
	if len(w.queue) == 0 || w.err != nil {
		return "", false
	}
	dir := w.queue[len(w.queue)-1]
	w.queue = w.queue[:len(w.queue)-1]
	w.busy++
	return dir, true
}

func (w *walk) give(dirs []string, seen Walked, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
	w.queue = append(w.queue, dirs...)
	w.total.Dirs += seen.Dirs
	w.total.Files += seen.Files
	if w.err == nil {
		w.err = err
	}
	if len(dirs) > 0 || w.busy == 0 || err != nil {
		w.wake.Broadcast()
	}
}

func (w *walk) list(dir string, buf []byte) (dirs []string, seen Walked, err error) {
	fd, err := unix.Openat(w.root, dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, seen, err
	}
	defer unix.Close(fd)
	seen.Dirs++
	for {
		n, err := unix.Getdents(fd, buf)
		if n <= 0 || err != nil {
			return dirs, seen, err
		}
		if dirs, err = w.statAll(fd, dir, buf[:n], dirs, &seen); err != nil {
			return dirs, seen, err
		}
	}
}

// The layout of a directory entry: inode, offset, length, type, name, NUL.
const (
	direntLength = 16
	direntName   = 19
)

func (w *walk) statAll(fd int, dir string, entries []byte, dirs []string, seen *Walked) ([]string, error) {
	for len(entries) > 0 {
		length := int(binary.NativeEndian.Uint16(entries[direntLength:]))
		name := entries[direntName:length]
		entries = entries[length:]
		if name[0] == '.' && (name[1] == 0 || name[1] == '.' && name[2] == 0) {
			continue
		}
		mode, err := lstatMode(fd, name)
		if err != nil {
			return dirs, err
		}
		if mode&unix.S_IFMT != unix.S_IFDIR {
			seen.Files++
			continue
		}
		text := string(name[:bytes.IndexByte(name, 0)])
		if dir != "." {
			text = dir + "/" + text
		}
		if !w.skip[text] {
			dirs = append(dirs, text)
		}
	}
	return dirs, nil
}

// lstatMode is fstatat of a NUL-terminated name. A raw call: it never blocks for
// long on a tree that is in the cache.
func lstatMode(fd int, name []byte) (uint32, error) {
	var st unix.Stat_t
	_, _, errno := unix.RawSyscall6(unix.SYS_NEWFSTATAT, uintptr(fd), uintptr(unsafe.Pointer(&name[0])),
		uintptr(unsafe.Pointer(&st)), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return st.Mode, nil
}
