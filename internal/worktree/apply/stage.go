package apply

import (
	"io/fs"
	"os"

	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// staged is a prepared change: a temporary file or link that will be renamed to its path or,
// without a tmp, a file whose new bits will be flushed.
type staged struct {
	i         int
	dir       *os.Root  // open until the change is settled
	at        dir.Place // the place of dir
	tmp, name string
	file      *os.File // nil for links
	made      fs.FileInfo
	device    uint64       // of the file
	together  bool         // flushed with the other files of its group on the device
	flushed   <-chan error // result of a flush of this file alone; nil if there is none
}

// Limits of the changes that one worker stages at a time. Flushing several files at once costs
// little more than flushing one, because the file system writes its journal once for all of them.
// But staged files take up space beside the files that they replace.
const (
	maxStaged      = 64
	maxStagedBytes = 32 << 20
)

// stage adds a prepared change, its file and its directory for place.
func (w *worker) stage(r *os.Root, s staged) {
	s.dir, s.at = r, w.stack.Here()
	s.together = w.inOrder(s.at, r) && dir.DeviceOf(s.at.Info) == s.device // the directory's device, not one that is mounted on the file
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

// place flushes all staged files at once and renames them.
func (w *worker) place() {
	if len(w.staged) == 0 {
		return
	}
	errs := w.flushStaged()
	for n := range w.staged {
		s := &w.staged[n]
		err := errs[n]
		if s.file != nil { // before the rename: Windows does not rename open files
			if cerr := s.file.Close(); err == nil { // some file systems report a full disk at close
				err = cerr // some file systems report a full disk only here
			}
		}
		if s.tmp != "" {
			err = w.placeOne(s, err)
		}
		w.recordOutcome(s.i, err)
		if n+1 == len(w.staged) || w.staged[n+1].dir != s.dir {
			w.flushFolderSoon(s.at, s.dir)
		}
	}
	w.stack.Release()
	clear(w.staged)
	w.staged, w.stagedBytes = w.staged[:0], 0
}

// unstage drops the staged files of a change that failed.
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
		err = removeTemp(s.dir, s.at.Path, s.tmp, err)
	}
	w.renamed(s.at, s.dir)
	return err
}
