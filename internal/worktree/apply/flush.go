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

// flushes is what a run knows about how its work gets to the medium.
//
// Where nothing is known about the file system, each file is flushed before it gets its
// name, and each directory after names have changed in it, many at a time and behind the
// back of what the run goes on with.
//
// Where a file system keeps order (atomicfile.Ordered), an fsync is a wait for the file's
// own contents, and then a flush of the one journal and the device's cache, which is the
// same for all. So contents are sent off as soon as a file is written; a group waits for
// the contents of all its files, flushes the one that it changed last, and renames; and at
// the end the directory in which a name was changed last is flushed for all.
type flushes struct {
	behind  *behind
	ordered map[uint64]bool        // devices, as far as they have been asked about
	touched map[string]*touched    // directories whose names, or whose own bits, changed
	final   map[uint64][]dir.Place // of devices that keep order: those where any worker made the last change
}

// touched is what a directory in which something changed still needs.
type touched struct {
	device  uint64      // if it keeps order, or flushedAlone
	info    fs.FileInfo // what was there each time; nil if it is not known, or not the same
	flushed bool        // after the last change, or at least about to be
}

// flushedAlone is the device of what is flushed by itself, whatever else is.
const flushedAlone = 0

func newFlushes(flush func(*os.File) error) flushes {
	return flushes{newBehind(flush), map[uint64]bool{}, map[string]*touched{}, map[uint64][]dir.Place{}}
}

// inOrder reports whether a directory, and the handle of it, lie on a file system that
// keeps order. When resuming, nobody knows what was changed last.
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

// flushStaged returns when what is staged is on the medium, except for where on it the
// contents of files lie that are flushed together: that is certain to be there no later
// than their names.
func (w *worker) flushStaged() []error {
	errs := make([]error, len(w.staged))
	if !w.Sync {
		return errs
	}
	last := map[uint64]int{} // change on each device that keeps order
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

// blame is called with the error of flushing all that is flushed together on a device.
func (w *worker) blame(errs []error, device uint64, err error) {
	for n := range w.staged {
		if s := &w.staged[n]; s.together && s.device == device {
			errs[n] = cmp.Or(errs[n], err)
		}
	}
}

// renamed notes that a name was just made, replaced or removed in a directory.
func (w *worker) renamed(at dir.Place, r *os.Root) {
	if w.inOrder(at, r) {
		w.latest[dir.DeviceOf(at.Info)] = at
	}
}

// endPhase takes note of the last changes of the workers of a phase. What the phases
// before changed is older than any of them.
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

// touch notes that names in the directory path, where the stack is, may have changed.
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

// touchAlone notes a directory that is flushed by itself.
func (w *worker) touchAlone(path string) {
	if !w.Sync {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.touched[path] = &touched{device: flushedAlone}
}

// syncFolders makes the new names durable; the contents already are. Each directory is
// flushed once, however much changed in it, or one for all of its file system.
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

// syncSame flushes directories, unless one of them is not at its path any more.
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

// syncError is nil for a directory that is gone or lies on a file system that cannot
// flush directories.
func syncError(path string, err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, dir.ErrChanged) || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return &fs.PathError{Op: "sync", Path: path, Err: dir.Cause(err)}
}

// inParallel calls do for 0 to n-1, as many at a time as flushes are worth it.
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
