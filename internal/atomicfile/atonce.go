package atomicfile

import (
	"errors"
	"sync"
)

// flushers is how many files are flushed at a time. The file system writes its journal once for
// all of them.
const flushers = 16

// AtOnce calls do for each of some things at the same time, where do waits for the disk: several
// such calls take little longer than one.
func AtOnce[T any](things []T, do func(T) error) error {
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
