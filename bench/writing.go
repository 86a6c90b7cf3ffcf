package main

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// writeFloor times what every way back has to do that survives a loss of power: write the contents of
// the edited files, in as many directories as they lie in, and wait for the disk.
func (d *driver) writeFloor(op string, e *trees.Edits) func(round int) error {
	return d.floor(names.FloorsOfWriting[op], func() (float64, error) { return timeWrite(d.scratch, e) })
}

// timeUnlink times unlinking the files of a turn, and waiting for the disk.
func timeUnlink(scratch string, t newTurn) (seconds float64, err error) {
	return inScratch(scratch, "unlink", func(root string) (float64, error) { return unlinkTurn(root, t) })
}

// timeRewrite times writing the files of a turn durably where they have just been unlinked. A file
// system may give out inodes slowly that it has freed in the last seconds.
func timeRewrite(scratch string, t newTurn, e *trees.Edits) (seconds float64, err error) {
	return inScratch(scratch, "rewrite", func(root string) (float64, error) {
		if _, err := unlinkTurn(root, t); err != nil {
			return 0, err
		}
		return writeEdits(root, e)
	})
}

// timeWrite times writing files durably in a directory of their own, which it removes.
func timeWrite(scratch string, e *trees.Edits) (seconds float64, err error) {
	return inScratch(scratch, "write", func(root string) (float64, error) { return writeEdits(root, e) })
}

// inScratch runs a measurement in a new directory and removes that.
func inScratch(scratch, name string, measure func(root string) (float64, error)) (seconds float64, err error) {
	root, err := os.MkdirTemp(scratch, name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	return measure(root)
}

// unlinkTurn makes the files of a turn, and times unlinking them.
func unlinkTurn(root string, t newTurn) (seconds float64, err error) {
	if err := t.make(root, 0); err != nil {
		return 0, err
	}
	system.FlushDisks()
	begin := time.Now()
	err = errors.Join(os.RemoveAll(t.dir(root)), atomicfile.SyncDir(root))
	return time.Since(begin).Seconds(), err
}

// writeEdits makes directories, and times writing the files in them.
func writeEdits(root string, e *trees.Edits) (seconds float64, err error) {
	var dirs []string
	seen := make(map[string]bool)
	for i := range e.Paths {
		dir := filepath.Dir(e.File(root, i))
		if seen[dir] {
			continue
		}
		seen[dir] = true
		dirs = append(dirs, dir)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return 0, err
		}
	}
	begin := time.Now()
	err = writeAll(root, e, dirs)
	return time.Since(begin).Seconds(), err
}

// writeAll writes every file beside its name, flushes several at a time, renames, and flushes each
// directory once.
func writeAll(root string, e *trees.Edits, dirs []string) error {
	all := make([]int, len(e.Paths))
	for i := range all {
		all[i] = i
	}
	err := atomicfile.AtOnce(all, func(i int) error { return writeFlushed(e.File(root, i)+".new", e.Texts[i]) })
	if err != nil {
		return err
	}
	for i := range e.Paths {
		if err := os.Rename(e.File(root, i)+".new", e.File(root, i)); err != nil {
			return err
		}
	}
	return atomicfile.AtOnce(dirs, atomicfile.SyncDir)
}

func writeFlushed(file string, text []byte) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
