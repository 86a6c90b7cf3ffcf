package odb

import (
	"os"
	"runtime"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// sealed is a complete pack that lies on the disk under temporary names.
type sealed struct {
	name      string
	pack, idx *os.File     // nil once they have their names
	index     []byte       // what idx holds, where that is in memory
	size      int64        // of both
	byGit     bool         // its name does not follow from its contents
	clean     func() error // removes the rest of the directory that they lie in, if that is their own
}

// discard removes what has not been installed.
func (s *sealed) discard() {
	atomicfile.Discard(s.pack)
	atomicfile.Discard(s.idx)
	if s.clean != nil {
		_ = s.clean() // Sweep will
	}
}

// seal ends the pack and its index, which lie under temporary names then. They are not
// flushed.
func (w *packWriter) seal() (*sealed, error) {
	sum, err := w.finish()
	if err != nil {
		return nil, err
	}
	idx, err := w.writeIndex(sum)
	if err != nil {
		return nil, err
	}
	s := &sealed{name: ownName(sum), pack: w.file, idx: idx, size: w.size()}
	w.file = nil // the pack's owner is another now
	return s, nil
}

// Place gives pack and index their names in dir.
func (s *sealed) Place(dir string) (*pack, error) {
	p := newPack(dir, s.name)
	if err := s.moveTo(p.stem); err != nil {
		return nil, err
	}
	p.setIndex(s.index)
	return p, nil
}

// moveTo renames the index last, which makes the objects visible. With a name of git's
// it is the other way round: a crash in between must not leave what could be a pack
// that a git is about to complete, and no git has an index before its pack.
func (s *sealed) moveTo(stem string) error {
	first, second, firstExt, secondExt := &s.pack, &s.idx, packExt, idxExt
	if s.byGit {
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

// EndInMemory is seal for a pack of which nothing is in a file: it returns the pack's name
// and what its files are to hold. The pack lies in the writer's buffer, until discard.
func (w *packWriter) EndInMemory() (name string, pack, idx []byte, err error) {
	sum := w.finishBuffer()
	idx, err = encodeIndex(w.rows, sum, offsetBit)
	if err == nil && !w.ask(len(w.buf)+len(idx)) {
		err = w.short
	}
	return ownName(sum), w.buf, idx, err
}

// lay writes the files of a pack under temporary names.
func (s *sealed) lay(dir string, pack, idx []byte) (err error) {
	if s.pack, err = atomicfile.CreateWith(dir, tempPrefix, pack); err != nil {
		return err
	}
	s.index = idx
	s.idx, err = atomicfile.CreateWith(dir, tempPrefix, idx)
	return err
}
