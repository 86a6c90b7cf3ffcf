package watch

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// events are all that change what a scan would see: names, contents, permissions.
// The directory's own moves and its end are known from its parent, but for the root.
const events = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF

// queueBuffer holds some 2,000 events with names of usual length.
const queueBuffer = 64 << 10

// Watcher watches the directories of one tree with inotify. Its methods may be
// called from several goroutines.
type Watcher struct {
	root string
	self identity // of the root, as it was when the watching began

	mu     sync.Mutex
	queue  int // the inotify descriptor
	mounts int // /proc/self/mountinfo, which polls as exceptional when mounts change
	paths  map[int32]string
	buf    []byte
	closed bool
}

type identity struct{ dev, ino uint64 }

// New begins to watch the tree below root, an absolute path; no directory is watched
// yet, not even root itself.
func New(root string) (*Watcher, error) {
	w := &Watcher{root: root, queue: -1, mounts: -1, buf: make([]byte, queueBuffer)}
	if remote(root) {
		return nil, fmt.Errorf("%s: %w: it lies on a network file system", root, ErrUnsupported)
	}
	if err := w.reset(); err != nil {
		return nil, err
	}
	return w, nil
}

// remote reports whether changes may come from machines that this kernel knows
// nothing about.
func remote(path string) bool {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return true
	}
	switch int64(st.Type) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC,
		unix.V9FS_MAGIC, unix.AFS_SUPER_MAGIC, unix.CODA_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC, unix.OVERLAYFS_SUPER_MAGIC:
		return true
	}
	return false
}

// reset begins anew with an empty queue.
func (w *Watcher) reset() error {
	w.release()
	self, err := identify(w.root)
	if err != nil {
		return fmt.Errorf("watch %s: %w", w.root, err)
	}
	w.self, w.paths = self, make(map[int32]string)
	if w.queue, err = unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC); err != nil {
		w.queue = -1
		return fmt.Errorf("watch %s: %w", w.root, limit(err))
	}
	if w.mounts, err = unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		w.release()
		return fmt.Errorf("watch %s: %w: changes of mounts cannot be seen: %w", w.root, ErrUnsupported, err)
	}
	w.mountsChanged() // what was before does not count
	return nil
}

func (w *Watcher) release() {
	for _, fd := range []*int{&w.queue, &w.mounts} {
		if *fd >= 0 {
			_ = unix.Close(*fd)
			*fd = -1
		}
	}
}

func identify(path string) (identity, error) {
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	return identity{uint64(st.Dev), st.Ino}, err
}

// limit names the limits that a user can raise.
func limit(err error) error {
	switch {
	case errors.Is(err, unix.ENOSPC):
		return fmt.Errorf("%w (fs.inotify.max_user_watches): %w", ErrLimit, err)
	case errors.Is(err, unix.EMFILE):
		return fmt.Errorf("%w (fs.inotify.max_user_instances): %w", ErrLimit, err)
	case errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return err
}

// Add watches an open directory, known by path from now on. A directory that is
// watched already gets the new path.
func (w *Watcher) Add(path string, dir *os.File) error { return w.AddHandle(path, int(dir.Fd())) }

// AddHandle is Add for a descriptor. The watch is on the directory that it is open
// on, whatever has happened to its path.
func (w *Watcher) AddHandle(path string, fd int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return os.ErrClosed
	}
	if w.queue < 0 {
		return ErrUnsupported
	}
	wd, err := unix.InotifyAddWatch(w.queue, "/proc/self/fd/"+strconv.Itoa(fd), events|unix.IN_ONLYDIR)
	if err != nil {
		return fmt.Errorf("watch %s: %w", path, limit(err))
	}
	w.paths[int32(wd)] = path
	return nil
}

// Watched is the number of directories under watch.
func (w *Watcher) Watched() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.paths)
}

// Changes tells what may have changed since the last call, and begins anew where
// that is everything. An error of the system is a reason like others.
func (w *Watcher) Changes() Changes {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return everything("the watcher is closed")
	}
	var c Changes
	reason := w.unsure()
	if reason == "" {
		reason = w.drain(&c)
	}
	if reason == "" {
		return c
	}
	if err := w.reset(); err != nil {
		reason = err.Error()
	}
	return everything(reason)
}

// unsure tells why the queue alone proves nothing, "" if it does.
func (w *Watcher) unsure() string {
	switch self, err := identify(w.root); {
	case w.queue < 0:
		return "watching had failed"
	case err != nil:
		return err.Error()
	case self != w.self:
		return "another directory has taken the root's place"
	case w.mountsChanged():
		return "a file system was mounted or unmounted"
	}
	return ""
}

// mountsChanged reports whether the list of mounts changed since the last call.
func (w *Watcher) mountsChanged() bool {
	fds := []unix.PollFd{{Fd: int32(w.mounts), Events: unix.POLLPRI}}
	for {
		n, err := unix.Poll(fds, 0)
		if err == unix.EINTR {
			continue
		}
		return err != nil || n > 0 && fds[0].Revents&(unix.POLLPRI|unix.POLLERR) != 0
	}
}

// drain empties the queue. It returns why everything may have changed, if it may.
func (w *Watcher) drain(c *Changes) (reason string) {
	for {
		n, err := unix.Read(w.queue, w.buf)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return ""
		case err != nil:
			return err.Error()
		}
		if reason := w.take(w.buf[:n], c); reason != "" {
			return reason
		}
	}
}

// take sorts events. The kernel gives them whole.
func (w *Watcher) take(data []byte, c *Changes) (reason string) {
	for len(data) >= unix.SizeofInotifyEvent {
		e := (*unix.InotifyEvent)(unsafe.Pointer(unsafe.SliceData(data)))
		name := strings.TrimRight(string(data[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+int(e.Len)]), "\x00")
		data = data[unix.SizeofInotifyEvent+int(e.Len):]
		path, known := w.paths[e.Wd]
		switch {
		case e.Mask&unix.IN_Q_OVERFLOW != 0:
			return "more happened than the queue holds"
		case e.Mask&unix.IN_UNMOUNT != 0:
			return "a file system was unmounted"
		case e.Mask&unix.IN_ISDIR != 0 && e.Mask&(unix.IN_MOVED_FROM|unix.IN_MOVED_TO) != 0:
			return "a directory was moved"
		case e.Mask&unix.IN_IGNORED != 0:
			delete(w.paths, e.Wd)
		case !known: // of a watch that has ended
		case e.Mask&(unix.IN_MOVE_SELF|unix.IN_DELETE_SELF) != 0 && path == "":
			return "the root was moved or removed"
		case e.Mask&(unix.IN_MOVE_SELF|unix.IN_DELETE_SELF) != 0: // its parent has an event for it, too
		default:
			c.add(path, name)
			if e.Mask&unix.IN_ISDIR != 0 && e.Mask&unix.IN_CREATE != 0 {
				c.addNew(path, name)
			}
		}
	}
	return ""
}

// Close ends the watching.
func (w *Watcher) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.release()
	return nil
}
