package apply

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// execution is one call of Run. Its workers share everything except their handles.
type execution struct {
	*Executor
	ctx      context.Context
	top      *os.Root
	topInfo  fs.FileInfo // nil without Sync
	changes  []Change
	outcomes []Outcome
	twins    map[string]int    // when resuming: the index of the change that makes a path, or impliedFolder
	instead  map[string]string // when resuming: Change.As by path
	progress func(done, total int)
	links    sync.Mutex // see guard
	bits     sameBits

	mu    sync.Mutex // guards the rest
	done  int
	loose map[string]looseFolder
	flushes
}

// looseFolder is a directory that was made writable until the end of the run.
type looseFolder struct {
	fi   fs.FileInfo
	perm uint16 // the original bits
}

// worker carries out changes one at a time.
type worker struct {
	*execution
	stack    dir.Stack
	buf, cmp []byte

	staged      []staged
	stagedBytes int64
	latest      map[uint64]dir.Place // by device that keeps order: where this worker changed a name last
}

func newExecution(ctx context.Context, a *Executor, top *os.Root, changes []Change, progress func(done, total int)) *execution {
	a.fine = newFineStamps(a.stamps)
	run := &execution{
		Executor: a, ctx: ctx, top: top, changes: changes, progress: progress,
		outcomes: make([]Outcome, len(changes)),
		loose:    map[string]looseFolder{},
		twins:    map[string]int{},
		instead:  map[string]string{},
		flushes:  newFlushes(a.flush),
		bits:     newSameBits(changes),
	}
	if a.Sync {
		run.topInfo, _ = top.Stat(".") // without it, every file is flushed alone
	}
	for i := range changes {
		run.outcomes[i] = Outcome{Path: changes[i].Path, Action: changes[i].Action}
		if a.Resume {
			run.addTwin(i)
		}
	}
	return run
}

// impliedFolder marks a directory that must exist for a path below it.
const impliedFolder = -1

func (run *execution) addTwin(i int) {
	c := &run.changes[i]
	if c.As != "" {
		run.instead[c.Path] = c.As
	}
	if !c.Action.Makes() {
		return
	}
	run.twins[c.Path] = i
	for up := parentPath(c.Path); up != ""; up = parentPath(up) {
		if _, ok := run.twins[up]; ok {
			return
		}
		run.twins[up] = impliedFolder
	}
}

// The parallelism of the writes, at most one worker per processor. Creating files is the kernel's
// work and gains nothing from it. Inflating and hashing gains (2,000 files of 16 KiB from zlib on
// two cores: 120 µs a file with one worker, 96 with two, 125 with four), and with Sync one flush
// serves several files. Deletions have as many workers on few processors, too: a file system that
// tells the disk of free blocks waits for each answer. A few writes or deletions stay with one worker.
const (
	maxWorkers = 4
	chunkSize  = 32
)

func (run *execution) worker() *worker {
	return &worker{execution: run, stack: dir.NewStack(run.top, run.topInfo), latest: map[uint64]dir.Place{}}
}

// all runs the phases. Directories that were made writable are restored in any case.
func (run *execution) all() error {
	refused := func(i int) bool { return run.outcomes[i].Err != nil }
	for i := range run.changes {
		if err := checkChange(&run.changes[i]); err != nil {
			run.recordOutcome(i, err)
		}
	}
	order := orderOf(run.changes, refused)
	w := run.worker()
	defer w.stack.Close()
	for p, steps := range order {
		if most := workersOf(phase(p)); most > 1 && len(steps) > chunkSize {
			w.stack.Close()
			run.endPhase(run.parallel(steps, most)...)
			continue
		}
		for _, i := range steps {
			w.change(i)
		}
		w.place()
		run.endPhase(w)
	}
	// Syncing opens directories, which may loosen them again.
	return errors.Join(w.tighten(), w.syncFolders(), w.tighten(), run.ctx.Err())
}

// workersOf returns how many workers carry out a phase with many changes.
func workersOf(p phase) int {
	switch p {
	case phaseWrites:
		return min(maxWorkers, runtime.GOMAXPROCS(0))
	case phaseDeletions:
		return maxWorkers
	}
	return 1
}

// parallel distributes steps in runs of neighbours, so that each worker stays in few directories.
func (run *execution) parallel(steps []int, most int) (workers []*worker) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(most, (len(steps)+chunkSize-1)/chunkSize) {
		w := run.worker()
		workers = append(workers, w)
		wg.Go(func() {
			defer w.stack.Close()
			defer w.place()
			for {
				start := int(next.Add(chunkSize)) - chunkSize
				if start >= len(steps) {
					return
				}
				for _, i := range steps[start:min(start+chunkSize, len(steps))] {
					w.change(i)
				}
			}
		})
	}
	wg.Wait()
	return workers
}

// change carries out or stages change i, and records its outcome.
func (w *worker) change(i int) {
	if w.stageIsFull() {
		w.place()
	}
	c, before := &w.changes[i], len(w.staged)
	err := w.try(i)
	if atomicfile.IsFull(err) && before > 0 { // placing frees the space of the replaced files
		w.place()
		before, err = 0, w.try(i)
	}
	if err == nil && len(w.staged) > before {
		return
	}
	w.unstage(before)
	if c.Action.Removes() && w.goneAbove(c.Path, err) {
		err = nil
	}
	w.recordOutcome(i, err)
}

func (w *worker) try(i int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	c := &w.changes[i]
	parent, name := splitPath(c.Path)
	return w.in(parent, c.Action.Makes(), func(r *os.Root) error {
		return w.carryOut(r, name, i)
	})
}

func (w *worker) carryOut(r *os.Root, name string, i int) error {
	switch c := &w.changes[i]; c.Action {
	case Create, Modify:
		return w.write(r, name, i)
	case Mkdir:
		return w.mkdir(r, name, i)
	case Delete:
		return w.remove(r, name, i)
	case Rmdir:
		return w.rmdir(r, name, i)
	default:
		return w.chmod(r, name, i)
	}
}

func (run *execution) recordOutcome(i int, err error) {
	out := &run.outcomes[i]
	if err != nil {
		out.Err = &fs.PathError{Op: out.Action.String(), Path: out.Path, Err: dir.Cause(err)}
	}
	out.Done = err == nil
	run.mu.Lock()
	defer run.mu.Unlock()
	run.done++
	if run.progress != nil {
		run.progress(run.done, len(run.changes))
	}
}

// in calls op with the handle of the directory path. If a directory on the way, or this one, denies
// access, it is made writable and the call is repeated. A call of in within op may close op's
// handle.
func (w *worker) in(path string, create bool, op func(*os.Root) error) error {
	var missing func(*os.Root, string) error
	if create && !w.Strict {
		missing = func(r *os.Root, name string) error {
			_, err := w.makeFolder(r, name, 0o755)
			if err == nil {
				w.touch(w.stack.Here().Path)
				w.renamed(w.stack.Here(), r)
			}
			return err
		}
	}
	var loosened []string
	for {
		r, err := w.stack.Enter(path, missing)
		if err == nil {
			err = dir.Denied(path, op(r))
		}
		var refused *dir.DeniedError
		if !errors.As(err, &refused) || slices.Contains(loosened, refused.Path) || !w.loosen(refused.Path) {
			if err == nil {
				w.touch(path)
			}
			return err
		}
		loosened = append(loosened, refused.Path)
	}
}

// loosen gives the owner of a directory all rights to it until the end of the run, unless the run is
// strict. It reports whether another attempt may succeed.
func (w *worker) loosen(path string) bool {
	if w.Strict {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.loose[path]; ok {
		return true // another worker has just done it
	}
	r, name, err := w.above(path)
	if err != nil {
		return false
	}
	fi, err := r.Lstat(name)
	if err != nil || !fi.IsDir() {
		return false
	}
	perm := dir.InfoOf(fi).Perm
	if perm&0o700 == 0o700 || chmodSame(r, name, fi, perm|0o700) != nil {
		return false
	}
	w.loose[path] = looseFolder{fi, perm}
	return true
}

// above returns a handle and a name in it for the directory path itself.
func (w *worker) above(path string) (*os.Root, string, error) {
	if path == "" {
		return w.top, ".", nil
	}
	parent, name := splitPath(path)
	r, err := w.stack.Enter(parent, nil)
	return r, name, err
}

// tighten restores the bits of the loosened directories, deepest first. A directory that
// another process has changed or replaced since is left alone. Opening one may loosen the
// directories above it again, so this repeats until none is left.
func (w *worker) tighten() error {
	var failed []error
	for paths := w.loosePaths(); len(paths) > 0; paths = w.loosePaths() {
		for _, path := range slices.Backward(paths) {
			w.mu.Lock()
			l := w.loose[path]
			delete(w.loose, path)
			w.mu.Unlock()
			if err := w.putBack(path, l); err != nil {
				failed = append(failed, &fs.PathError{Op: "put back the permissions of", Path: path, Err: dir.Cause(err)})
			}
		}
	}
	return errors.Join(failed...)
}

// loosePaths lists the loosened directories, parents first.
func (w *worker) loosePaths() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedFunc(maps.Keys(w.loose), comparePaths)
}

func (w *worker) putBack(path string, l looseFolder) error {
	parent, name := splitPath(path)
	if path == "" {
		name = "."
	}
	err := w.in(parent, false, func(r *os.Root) error {
		fi, err := r.Lstat(name)
		if err != nil || !os.SameFile(fi, l.fi) || dir.InfoOf(fi).Perm != l.perm|0o700 {
			return err
		}
		w.touchAlone(parent)
		return chmodSame(r, name, fi, l.perm)
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, dir.ErrChanged) {
		return nil
	}
	return err
}
