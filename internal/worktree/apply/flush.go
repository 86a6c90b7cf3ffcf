package apply

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// flushes is the state of a run that decides when its work is on the medium.
//
// On an unknown file system, each file is flushed before it gets its name, and each directory after
// names have changed in it. Many flushes run at a time in the background.
//
// On a file system that keeps order (atomicfile.Ordered), an fsync waits for the file's own
// contents and then flushes the one journal and the device's cache, which all files share. So
// write-back of a file starts as soon as it is written. A group waits for the contents of all its
// files, flushes the file that was changed last, and renames. At the end, a flush of the directory
// in which a name was changed last serves all.
type flushes struct {
	behind  *behind
	ordered map[uint64]bool        // devices that were probed
	touched map[string]*touched    // directories whose names or own bits changed
	final   map[uint64][]dir.Place // of devices that keep order: the directories in which the workers made their last changes
}

// touched records the flush that a changed directory still needs.
type touched struct {
	device  uint64      // the device if it keeps order, else flushedAlone
	info    fs.FileInfo // the directory at each change; nil if not known or not always the same
	flushed bool        // flushed since the last change, or about to be
}

// flushedAlone is the device of files and directories that are flushed by themselves.
const flushedAlone = 0

func newFlushes(flush func(*os.File) error) flushes {
	return flushes{newBehind(flush), map[uint64]bool{}, map[string]*touched{}, map[uint64][]dir.Place{}}
}

// inOrder reports whether a directory and its handle are on a file system that keeps order. It is
// false when resuming: the last change before the interruption is not known.
func (w *worker) inOrder(at dir.Place, r *os.Root) bool {
	if !w.Sync || w.Resume || at.Info == nil {
		return false
	}
	device := dir.DeviceOf(at.Info)
	if device == flushedAlone {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	ok, known := w.ordered[device]
	if !known {
		ok, known = w.asksOrder(r, device)
	}
	if known {
		w.ordered[device] = ok
	}
	return ok
}

func (run *execution) asksOrder(r *os.Root, device uint64) (ok, known bool) {
	d, err := openToSync(r)
	if err != nil || d == nil {
		return false, false
	}
	defer d.Close()
	order := run.order
	if order == nil {
		order = atomicfile.Ordered
	}
	of, ok := order(d)
	return ok && of == device && awaitsAll(), true
}

// flushStaged waits until the staged files are on the medium. For files that are flushed together,
// the location of their contents may still be missing; it becomes durable no later than their
// names.
func (w *worker) flushStaged() []error {
	errs := make([]error, len(w.staged))
	if !w.Sync {
		return errs
	}
	last := map[uint64]int{} // last staged file on each device that keeps order
	for n := range w.staged {
		if s := &w.staged[n]; s.file != nil && s.together {
			if s.tmp != "" {
				errs[n] = awaitWritten(s.file)
			}
			last[s.device] = n
		}
	}
	for device, n := range last {
		if err := w.behind.sync(w.staged[n].file); err != nil {
			w.blame(errs, device, err)
		}
	}
	for n := range w.staged {
		if s := &w.staged[n]; s.flushed != nil {
			errs[n] = <-s.flushed
		}
	}
	return errs
}

// blame sets the error of a common flush for all files of the device.
func (w *worker) blame(errs []error, device uint64, err error) {
	for n := range w.staged {
		if s := &w.staged[n]; s.together && s.device == device {
			errs[n] = cmp.Or(errs[n], err)
		}
	}
}

// renamed records that a name was made, replaced or removed in a directory.
func (w *worker) renamed(at dir.Place, r *os.Root) {
	if w.inOrder(at, r) {
		w.latest[dir.DeviceOf(at.Info)] = at
	}
}

// endPhase records the last changes of a phase's workers. They are newer than those of all earlier
// phases.
func (run *execution) endPhase(workers ...*worker) {
	latest := map[uint64][]dir.Place{}
	for _, w := range workers {
		for device, at := range w.latest {
			latest[device] = append(latest[device], at)
		}
		clear(w.latest)
	}
	maps.Copy(run.final, latest)
}

// touch records that names may have changed in the directory path, where the stack is.
func (w *worker) touch(path string) {
	if !w.Sync {
		return
	}
	now := touched{device: flushedAlone}
	if at := w.stack.Here(); at.Path == path {
		if now.info = at.Info; w.inOrder(at, w.stack.Last()) {
			now.device = dir.DeviceOf(at.Info)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if before := w.touched[path]; before != nil {
		if before.device != now.device {
			now.device = flushedAlone
		}
		if before.info == nil || now.info == nil || !os.SameFile(before.info, now.info) {
			now.info = nil
		}
	}
	w.touched[path] = &now
}

// touchAlone records a directory that is flushed by itself.
func (w *worker) touchAlone(path string) {
	if !w.Sync {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.touched[path] = &touched{device: flushedAlone}
}

// syncFolders makes the new names durable; the contents already are. Each directory is flushed
// once, or one directory for its whole file system.
func (w *worker) syncFolders() error {
	left := maps.Clone(w.touched)
	maps.DeleteFunc(left, func(_ string, t *touched) bool { return t.flushed })
	var failed []error
	for device, folders := range w.final {
		errs, ok := w.syncSame(folders)
		if ok {
			failed = append(failed, errs...)
			maps.DeleteFunc(left, func(_ string, t *touched) bool { return t.device == device })
		}
	}
	paths := slices.SortedFunc(maps.Keys(left), comparePaths)
	for some := range slices.Chunk(paths, maxStaged) {
		failed = append(failed, w.syncSome(some)...)
	}
	return errors.Join(append(failed, w.behind.wait()...)...)
}

// syncSame flushes directories. ok is false if one of them is no longer at its path.
func (w *worker) syncSame(folders []dir.Place) (failed []error, ok bool) {
	var files []*os.File
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	for _, at := range folders {
		err := w.in(at.Path, false, func(r *os.Root) error {
			now, err := openToSync(r)
			if err != nil {
				return err
			}
			files = append(files, now)
			if info, err := now.Stat(); err != nil || !os.SameFile(info, at.Info) {
				return dir.ErrChanged
			}
			return nil
		})
		if err != nil {
			return nil, false
		}
	}
	for i, f := range files {
		if err := w.behind.sync(f); err != nil {
			failed = append(failed, syncError(folders[i].Path, err))
		}
	}
	return failed, true
}

func (w *worker) syncSome(paths []string) (failed []error) {
	errs := make([]error, len(paths))
	folders := make([]*os.File, len(paths))
	for i, path := range paths {
		errs[i] = w.in(path, false, func(r *os.Root) (err error) {
			folders[i], err = openToSync(r)
			return err
		})
	}
	inParallel(len(paths), func(i int) {
		if folders[i] != nil {
			errs[i] = errors.Join(w.behind.sync(folders[i]), folders[i].Close())
		}
	})
	for i, err := range errs {
		if err := syncError(paths[i], err); err != nil {
			failed = append(failed, err)
		}
	}
	return failed
}

// syncError returns nil for a directory that is gone, or on a file system that cannot flush
// directories.
func syncError(path string, err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, dir.ErrChanged) || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return &fs.PathError{Op: "sync", Path: path, Err: dir.Cause(err)}
}

// inParallel calls do for 0 to n-1, with at most maxFlushes calls at a time.
func inParallel(n int, do func(int)) {
	if n == 1 {
		do(0)
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, maxFlushes) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}
