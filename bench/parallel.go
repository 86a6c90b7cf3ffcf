package main

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
)

// inParallel calls f for 0 to n-1 in GOMAXPROCS goroutines. After an error no new
// calls begin; the errors are joined.
func inParallel(n int, f func(i int) error) error {
	var next atomic.Int64
	workers := min(runtime.GOMAXPROCS(0), n)
	errs := make([]error, workers)
	var failed atomic.Bool
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for !failed.Load() {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if errs[w] = f(i); errs[w] != nil {
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
