package apply

import (
	"io/fs"
	"os"

	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// staged is a change that is prepared but not yet done: a temporary file or link that
// waits to take its place, or, without a tmp, a file whose new bits wait to be flushed.
type staged struct {
	i         int
	dir       *os.Root  // held open until the change is settled
	at        dir.Place // what dir is
	tmp, name string
	file      *os.File // nil for links
	made      fs.FileInfo
	device    uint64       // of the file
	together  bool         // flushed with the others of its group on that device
	flushed   <-chan error // the outcome of being flushed alone; nil if it is not
}

// What may be staged at a time by one worker. Flushing several files at once costs
// little more than flushing one, because the file system writes its journal once for
// all of them; but until they are placed they take up room beside what they replace.
const (
	maxStaged      = 64
	maxStagedBytes = 32 << 20
)

// stage keeps a prepared change, its file and its directory for place.
func (w *worker) stage(r *os.Root, s staged) {
	s.dir, s.at = r, w.stack.Here()
	s.together = w.inOrder(s.at, r) && dir.DeviceOf(s.at.Info) == s.device // not what is mounted on a file
	w.stack.Hold(r)
	w.flushSoon(&s)
	w.staged = append(w.staged, s)
	if s.tmp != "" && s.made != nil {
		w.stagedBytes += s.made.Size()
	}
}

func (w *worker) stageIsFull() bool {
	return len(w.staged) >= maxStaged || w.stagedBytes >= maxStagedBytes
}

// place flushes what is staged, all at once, and gives each its name.
func (w *worker) place() {
	if len(w.staged) == 0 {
		return
	}
	errs := w.flushStaged()
	for n := range w.staged {
		s := &w.staged[n]
		err := errs[n]
		if s.file != nil { // before the rename: Windows does not rename open files
			if cerr := s.file.Close(); err == nil {
				err = cerr // some file systems report a full disk only here
			}
		}
		if s.tmp != "" {
			err = w.placeOne(s, err)
		}
		w.settle(s.i, err)
		if n+1 == len(w.staged) || w.staged[n+1].dir != s.dir {
			w.flushFolderSoon(s.at, s.dir)
		}
	}
	w.stack.Release()
	clear(w.staged)
	w.staged, w.stagedBytes = w.staged[:0], 0
}

// unstage drops what a change has staged before it failed all the same.
func (w *worker) unstage(from int) {
	for _, s := range w.staged[from:] {
		s.file.Close()
		if s.tmp != "" {
			s.dir.Remove(s.tmp)
			w.renamed(s.at, s.dir)
		}
	}
	w.staged = w.staged[:from]
}

func (w *worker) placeOne(s *staged, err error) error {
	if err == nil {
		err = w.ctx.Err()
	}
	if err == nil {
		err = w.replace(s.dir, s.tmp, s.name, s.i, s.made)
	}
	if err != nil {
		s.dir.Remove(s.tmp)
	}
	w.renamed(s.at, s.dir)
	return err
}
