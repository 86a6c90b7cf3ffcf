package odb

import (
	"errors"
	"os"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// flushers is how many files are flushed at a time: the journal of the file system is
// written once for all who wait.
const flushers = 16

// inParallel does something for each of some things, where doing it means to wait for
// the disk: that costs little more for several than for one.
func inParallel[T any](things []T, do func(T) error) error {
	if len(things) == 1 {
		return do(things[0])
	}
	errs := make([]error, len(things))
	slots := make(chan struct{}, flushers)
	var wg sync.WaitGroup
	for i, thing := range things {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(thing)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// atOnce is inParallel for different things to do.
func atOnce(calls ...func() error) error {
	return inParallel(calls, func(call func() error) error { return call() })
}

// flush flushes files at the same time.
func (db *DB) flush(files ...*os.File) error {
	if db.opt.NoSync {
		return nil
	}
	return inParallel(files, (*os.File).Sync)
}

// syncDirs flushes directories at the same time.
func (db *DB) syncDirs(dirs ...string) error {
	if db.opt.NoSync {
		return nil
	}
	return inParallel(dirs, atomicfile.SyncDir)
}
