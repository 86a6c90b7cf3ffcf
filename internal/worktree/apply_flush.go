package worktree

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
)

// flushes is what a run knows about how its work gets to the medium.
//
// Where nothing is known about the file system, each file of a group is flushed before it
// gets its name, and at the end each directory in which names have changed, many at a time.
//
// Where a file system keeps order (atomicfile.Ordered), an fsync is a wait for the file's
// own contents, and then a flush of the one journal and the device's cache, which is the
// same for all. So contents are sent off as soon as a file is written; a group waits for
// the contents of all its files, flushes the one that it changed last, and renames; and at
// the end the directory in which a name was changed last is flushed for all.
type flushes struct {
	ordered map[uint64]bool     // devices, as far as they have been asked about
	touched map[string]uint64   // directories whose names, or whose own bits, changed: the device if it keeps order, or flushedAlone
	final   map[uint64][]folder // of devices that keep order: those where any worker made the last change
}

// flushedAlone is the device of what is flushed by itself, whatever else is.
const flushedAlone = 0

// maxFlushes is how many files or directories one worker flushes at once: 100 files in as
// many directories took 35 ms one by one, 6 with 16 at a time, and no less with more.
const maxFlushes = 16

func newFlushes() flushes {
	return flushes{map[uint64]bool{}, map[string]uint64{}, map[uint64][]folder{}}
}

// inOrder reports whether a directory, and the handle of it, lie on a file system that
// keeps order. When resuming, nobody knows what was changed last.
func (w *applyWorker) inOrder(at folder, r *os.Root) bool {
	if !w.Sync || w.Resume || at.info == nil {
		return false
	}
	device := deviceOf(at.info)
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

func (run *applyRun) asksOrder(r *os.Root, device uint64) (ok, known bool) {
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
func (w *applyWorker) flushStaged() []error {
	errs := make([]error, len(w.staged))
	if !w.Sync {
		return errs
	}
	var flush []int          // all that is alone, and
	last := map[uint64]int{} // the last change on each device
	for n := range w.staged {
		switch s := &w.staged[n]; {
		case s.file == nil:
		case !s.together:
			flush = append(flush, n)
		default:
			if s.tmp != "" {
				errs[n] = awaitWritten(s.file)
			}
			last[s.device] = n
		}
	}
	flush = slices.AppendSeq(flush, maps.Values(last))
	inParallel(len(flush), func(i int) {
		n := flush[i]
		if err := w.staged[n].file.Sync(); err != nil {
			w.blame(errs, n, err)
		}
	})
	return errs
}

// blame is called with the error of flushing change n, for itself or for all that are
// flushed together on its device. Only one call is about any of them.
func (w *applyWorker) blame(errs []error, n int, err error) {
	for m := range w.staged {
		s := &w.staged[m]
		if m == n || w.staged[n].together && s.together && s.device == w.staged[n].device {
			errs[m] = cmp.Or(errs[m], err)
		}
	}
}

// renamed notes that a name was just made, replaced or removed in a directory.
func (w *applyWorker) renamed(at folder, r *os.Root) {
	if w.inOrder(at, r) {
		w.latest[deviceOf(at.info)] = at
	}
}

// endPhase takes note of the last changes of the workers of a phase. What the phases
// before changed is older than any of them.
func (run *applyRun) endPhase(workers ...*applyWorker) {
	latest := map[uint64][]folder{}
	for _, w := range workers {
		for device, at := range w.latest {
			latest[device] = append(latest[device], at)
		}
		clear(w.latest)
	}
	maps.Copy(run.final, latest)
}

// touch notes that names in the directory path, where the stack is, may have changed.
func (w *applyWorker) touch(path string) {
	if !w.Sync {
		return
	}
	device := uint64(flushedAlone)
	if at := w.stack.here(); at.path == path && w.inOrder(at, w.stack.last()) {
		device = deviceOf(at.info)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if before, ok := w.touched[path]; !ok || before == device {
		w.touched[path] = device
	} else {
		w.touched[path] = flushedAlone
	}
}

// touchAlone notes a directory that is flushed by itself.
func (w *applyWorker) touchAlone(path string) {
	if !w.Sync {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.touched[path] = flushedAlone
}

// syncFolders makes the new names durable; the contents already are. Each directory is
// flushed once, however much changed in it, or one for all of its file system.
func (w *applyWorker) syncFolders() error {
	touched := maps.Clone(w.touched)
	var failed []error
	for device, folders := range w.final {
		errs, ok := w.syncSame(folders)
		if ok {
			failed = append(failed, errs...)
			maps.DeleteFunc(touched, func(_ string, of uint64) bool { return of == device })
		}
	}
	paths := slices.SortedFunc(maps.Keys(touched), comparePaths)
	for some := range slices.Chunk(paths, maxStaged) {
		failed = append(failed, w.syncSome(some)...)
	}
	return errors.Join(failed...)
}

// syncSame flushes directories, unless one of them is not at its path any more.
func (w *applyWorker) syncSame(folders []folder) (failed []error, ok bool) {
	var files []*os.File
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	for _, at := range folders {
		err := w.in(at.path, false, func(r *os.Root) error {
			now, err := openToSync(r)
			if err != nil {
				return err
			}
			files = append(files, now)
			if info, err := now.Stat(); err != nil || !os.SameFile(info, at.info) {
				return ErrChanged
			}
			return nil
		})
		if err != nil {
			return nil, false
		}
	}
	for i, f := range files {
		if err := f.Sync(); err != nil {
			failed = append(failed, syncError(folders[i].path, err))
		}
	}
	return failed, true
}

func (w *applyWorker) syncSome(paths []string) (failed []error) {
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
			errs[i] = errors.Join(folders[i].Sync(), folders[i].Close())
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
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrChanged) || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return &fs.PathError{Op: "sync", Path: path, Err: rootCause(err)}
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
