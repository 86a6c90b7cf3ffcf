package pack

import (
	"os"
	"runtime"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// Sealed is a complete pack that lies on the disk under temporary names.
type Sealed struct {
	Name      string
	Pack, Idx *os.File     // nil once they have their final names
	index     []byte       // contents of Idx, if they are in memory
	Size      int64        // of both
	ByGit     bool         // git wrote it: its name does not follow from its contents
	Clean     func() error // removes the directory of the files, if they have one of their own
}

// Discard removes the files that still have temporary names.
func (s *Sealed) Discard() {
	atomicfile.Discard(s.Pack)
	atomicfile.Discard(s.Idx)
	if s.Clean != nil {
		_ = s.Clean() // Sweep will
	}
}

// Seal completes the pack and its index under temporary names. They are not flushed.
func (w *Writer) Seal() (*Sealed, error) {
	sum, err := w.finish()
	if err != nil {
		return nil, err
	}
	idx, err := w.writeIndex(sum)
	if err != nil {
		return nil, err
	}
	s := &Sealed{Name: OwnName(sum), Pack: w.file, Idx: idx, Size: w.Size()}
	w.file = nil // s owns it now
	return s, nil
}

// Place gives pack and index their names in dir.
func (s *Sealed) Place(dir string) (*Pack, error) {
	p := New(dir, s.Name)
	if err := s.moveTo(p.Stem); err != nil {
		return nil, err
	}
	p.setIndex(s.index)
	return p, nil
}

// moveTo renames the index last, which makes the objects visible. A pack with a name of
// git's is renamed after its index: after a crash in between, a lone pack would look like
// one that a running git is about to complete. A lone index cannot: git makes it last.
func (s *Sealed) moveTo(stem string) error {
	first, second, firstExt, secondExt := &s.Pack, &s.Idx, Ext, IndexExt
	if s.ByGit {
		first, second, firstExt, secondExt = second, first, secondExt, firstExt
	}
	if err := rename(first, stem+firstExt); err != nil {
		return err
	}
	return rename(second, stem+secondExt)
}

const onWindows = runtime.GOOS == "windows"

// rename gives a temporary file its name and closes it; then it is nil.
func rename(f **os.File, path string) error {
	if onWindows { // which does not rename open files
		if err := (*f).Close(); err != nil {
			return err
		}
	}
	if err := atomicfile.Rename((*f).Name(), path); err != nil {
		return err
	}
	(*f).Close() // nothing is written to it any more
	*f = nil
	return nil
}

// EndInMemory completes a pack that is InMemory. It returns the name and the contents of
// both files. The contents of the pack are the writer's buffer and valid until Discard.
func (w *Writer) EndInMemory() (name string, pack, idx []byte, err error) {
	sum := w.finishBuffer()
	idx, err = w.index(sum)
	if err == nil && !w.ask(len(w.buf)+len(idx)) {
		err = w.short
	}
	return OwnName(sum), w.buf, idx, err
}

// Lay writes the files of a pack under temporary names.
func (s *Sealed) Lay(dir string, pack, idx []byte) (err error) {
	if s.Pack, err = atomicfile.CreateWith(dir, TempPrefix, pack); err != nil {
		return err
	}
	s.index = idx
	s.Idx, err = atomicfile.CreateWith(dir, TempPrefix, idx)
	return err
}
