package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// events are all events that change the result of a scan: names, contents, permissions. A write
// through a memory map has no event of its own: the end of the map closes the file. A directory's
// move and removal are known from its parent, except for the root.
const events = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF

// queueBuffer holds some 2,000 events with names of usual length.
const queueBuffer = 64 << 10

// Watcher watches the directories of one tree with inotify. Its methods may be
// called from several goroutines.
type Watcher struct {
	root string
	sys  system
	buf  []byte

	// life is read-locked while a directory is added: the kernel call is slow, so several run at a
	// time. All other methods write-lock it, so that no event is taken from the queue before its
	// path is known.
	life   sync.RWMutex
	self   identity // of the root when the watching began
	queue  int      // the inotify descriptor, -1 = none
	mounts *mounts
	broken error // why there is no queue
	closed bool

	mu    sync.Mutex
	paths map[int32]string
	twins map[int32][]string // further paths of directories that are mounted at several places
}

// system holds the calls that the kernel may refuse; tests replace them.
type system struct {
	init func(flags int) (int, error)
	add  func(queue int, path string, events uint32) (int, error)
}

var inotify = system{unix.InotifyInit1, unix.InotifyAddWatch}

// mountsDiffer is the reason when the mount table changed, or when inotify reports the end of a
// file system.
const mountsDiffer = "a file system was mounted or unmounted"

type identity struct{ dev, ino uint64 }

// New starts to watch the tree below root, an absolute path without symlinks. No directory is
// watched yet, not even root itself.
func New(root string) (*Watcher, error) { return newWatcher(root, inotify) }

func newWatcher(root string, sys system) (*Watcher, error) {
	w := &Watcher{root: root, sys: sys, queue: -1, buf: make([]byte, queueBuffer)}
	if err := w.reset(); err != nil {
		return nil, err
	}
	return w, nil
}

// reset starts again with an empty queue.
func (w *Watcher) reset() error {
	w.release()
	w.broken = w.begin()
	if w.broken != nil {
		w.release()
		w.broken = fmt.Errorf("watch %s: %w", w.root, w.broken)
	}
	return w.broken
}

func (w *Watcher) begin() (err error) {
	w.paths, w.twins = make(map[int32]string), nil
	if remote(w.root) {
		return errRemote
	}
	if w.self, err = identify(w.root); err != nil {
		return err
	}
	if w.queue, err = w.sys.init(unix.IN_NONBLOCK | unix.IN_CLOEXEC); err != nil {
		w.queue = -1
		return limit(err)
	}
	w.mounts, err = openMounts(w.root)
	return err
}

func (w *Watcher) release() {
	w.mounts.close()
	w.mounts = nil
	if w.queue >= 0 {
		_ = unix.Close(w.queue)
		w.queue = -1
	}
}

func identify(path string) (identity, error) {
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	return identity{uint64(st.Dev), st.Ino}, err
}

// limit maps an error to the limit that a user can raise.
func limit(err error) error {
	switch {
	case errors.Is(err, unix.ENOSPC):
		return &LimitError{"fs.inotify.max_user_watches", err}
	case errors.Is(err, unix.EMFILE):
		return &LimitError{"fs.inotify.max_user_instances", err} // or the process has too many open files
	case errors.Is(err, unix.ENFILE):
		return &LimitError{"fs.file-max", err}
	case errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return err
}

// Add watches an open directory under the given path. A directory that is watched already gets this
// path, too.
func (w *Watcher) Add(path string, dir *os.File) error { return w.AddHandle(path, int(dir.Fd())) }

// AddHandle is Add for a descriptor. The watch is on the open directory, whatever its path is by
// now.
func (w *Watcher) AddHandle(path string, fd int) error {
	w.life.RLock()
	defer w.life.RUnlock()
	switch {
	case w.closed:
		return os.ErrClosed
	case w.queue < 0:
		return w.broken
	case w.mounts.inside && remoteHandle(fd):
		return fmt.Errorf("watch %s: %w", filepath.Join(w.root, path), errRemote)
	}
	wd, err := w.sys.add(w.queue, "/proc/self/fd/"+strconv.Itoa(fd), events|unix.IN_ONLYDIR)
	if err != nil {
		return fmt.Errorf("watch %s: %w", filepath.Join(w.root, path), limit(err))
	}
	w.name(int32(wd), path)
	return nil
}

// name records the path of a watch. A moved directory makes everything uncertain, so a directory
// with a second path is mounted at both.
func (w *Watcher) name(wd int32, path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	first, known := w.paths[wd]
	switch {
	case !known:
		w.paths[wd] = path
	case first != path && !slices.Contains(w.twins[wd], path):
		if w.twins == nil {
			w.twins = make(map[int32][]string)
		}
		w.twins[wd] = append(w.twins[wd], path)
	}
}

// Watched returns the number of watched directories.
func (w *Watcher) Watched() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.paths)
}

// Changes returns the changes since the last call. If everything may have changed, the watching
// starts again. An error of the system is one of the reasons for that.
func (w *Watcher) Changes() Changes {
	w.life.Lock()
	defer w.life.Unlock()
	if w.closed {
		return everything("the watcher is closed")
	}
	var c Changes
	reason := w.unsure()
	if reason == "" {
		reason = w.drain(&c)
	}
	if reason == "" {
		w.addFileMounts(&c)
		return c
	}
	if err := w.reset(); err != nil {
		reason = err.Error()
	}
	return everything(reason)
}

// addFileMounts adds each file that is a mount point: a write to it causes an event only in the
// directory from which it was mounted.
func (w *Watcher) addFileMounts(c *Changes) {
	for _, path := range w.mounts.files {
		dir, name := "", path
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			dir, name = path[:i], path[i+1:]
		}
		c.add(dir, name)
	}
}

// unsure returns why the queue alone proves nothing, "" if it does.
func (w *Watcher) unsure() string {
	switch self, err := identify(w.root); {
	case w.queue < 0:
		return "watching had failed"
	case err != nil:
		return err.Error()
	case self != w.self:
		return "another directory has taken the root's place"
	case w.mounts.changed():
		return mountsDiffer
	}
	return ""
}

// drain empties the queue. It returns the reason if everything may have changed.
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
		if reason := w.record(w.buf[:n], c); reason != "" {
			return reason
		}
	}
}

// record evaluates a batch of events. The kernel never splits an event.
func (w *Watcher) record(data []byte, c *Changes) (reason string) {
	for len(data) >= unix.SizeofInotifyEvent {
		e := (*unix.InotifyEvent)(unsafe.Pointer(unsafe.SliceData(data)))
		name := strings.TrimRight(string(data[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+int(e.Len)]), "\x00")
		data = data[unix.SizeofInotifyEvent+int(e.Len):]
		path, known := w.paths[e.Wd]
		self := e.Mask&(unix.IN_MOVE_SELF|unix.IN_DELETE_SELF) != 0
		switch {
		case e.Mask&unix.IN_Q_OVERFLOW != 0:
			return "more happened than the queue holds"
		case e.Mask&unix.IN_UNMOUNT != 0:
			return mountsDiffer
		case e.Mask&unix.IN_ISDIR != 0 && e.Mask&(unix.IN_MOVED_FROM|unix.IN_MOVED_TO) != 0:
			return "a directory was moved"
		case e.Mask&unix.IN_IGNORED != 0:
			delete(w.paths, e.Wd)
			delete(w.twins, e.Wd)
		case !known: // an event of a watch that has ended
		case self && path == "":
			return "the root was moved or removed"
		case self && w.twins[e.Wd] == nil: // its parent has an event for it, too
		default:
			w.note(c, e, path, name)
			for _, twin := range w.twins[e.Wd] {
				w.note(c, e, twin, name)
			}
		}
	}
	return ""
}

func (w *Watcher) note(c *Changes, e *unix.InotifyEvent, path, name string) {
	c.add(path, name)
	if e.Mask&unix.IN_ISDIR != 0 && e.Mask&unix.IN_CREATE != 0 {
		c.addNew(path, name)
	}
}

// Close ends the watching.
func (w *Watcher) Close() error {
	w.life.Lock()
	defer w.life.Unlock()
	w.closed = true
	w.release()
	return nil
}
