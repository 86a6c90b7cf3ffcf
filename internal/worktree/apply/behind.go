package apply

import (
	"os"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// maxFlushes is how many files or directories are flushed at once: 100 files in as many
// directories took 35 ms one by one, 6 with 16 at a time, and no less with more.
const maxFlushes = 16

// behind flushes files and directories while the workers go on: a flush waits for the
// device, and what they do for the processor. Whoever needs one to be over waits for it.
type behind struct {
	sync    func(*os.File) error
	slots   chan struct{} // one for each flush under way
	open    chan struct{} // one for each directory that is open for its flush
	running sync.WaitGroup

	mu     sync.Mutex
	failed []error // of directories
}

func newBehind(flush func(*os.File) error) *behind {
	if flush == nil {
		flush = (*os.File).Sync
	}
	return &behind{sync: flush, slots: make(chan struct{}, maxFlushes), open: make(chan struct{}, maxStaged)}
}

// file flushes a file, which its owner may close meanwhile if nothing matters any more.
func (b *behind) file(f *os.File) <-chan error {
	done := make(chan error, 1)
	go func() {
		b.slots <- struct{}{}
		defer func() { <-b.slots }()
		done <- b.sync(f)
	}()
	return done
}

// folder flushes a directory and closes it. What comes of it, wait tells. The caller
// has a place in open, which it gives up.
func (b *behind) folder(path string, f *os.File) {
	b.running.Go(func() {
		b.slots <- struct{}{}
		defer func() { <-b.slots; <-b.open }()
		err := b.sync(f)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err := syncError(path, err); err != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.failed = append(b.failed, err)
		}
	})
}

// wait returns when all directories are flushed.
func (b *behind) wait() []error {
	b.running.Wait()
	return b.failed
}

// flushSoon begins to flush a staged file that is flushed by itself. Its contents are
// sent off at once, since it may take a while until the flush has its turn; where the
// system cannot do that or fails, the flush does it, and tells.
func (w *worker) flushSoon(s *staged) {
	if !w.Sync || s.file == nil || s.together {
		return
	}
	if s.tmp != "" {
		_ = startWriting(s.file)
	}
	s.flushed = w.behind.file(s.file)
}

// flushFolderSoon begins to flush a directory that is flushed by itself, after names were
// changed in it; another change needs another flush. It is left to the end where this is
// not known to be what every change so far was made in.
func (w *worker) flushFolderSoon(at dir.Place, dir *os.Root) {
	if !w.Sync {
		return
	}
	w.behind.open <- struct{}{}
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.touched[at.Path]
	if t.flushed = false; t.device == flushedAlone && t.info != nil && at.Info != nil && os.SameFile(t.info, at.Info) {
		if f, err := openToSync(dir); err == nil && f != nil {
			t.flushed = true
			w.behind.folder(at.Path, f)
			return
		}
	}
	<-w.behind.open
}
