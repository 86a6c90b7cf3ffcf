package system

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// InParallel calls f for 0 to n-1 in GOMAXPROCS goroutines and returns the first error.
// After an error no new calls begin.
func InParallel(n int, f func(i int) error) error {
	group, ctx := errgroup.WithContext(context.Background())
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := 0; i < n && ctx.Err() == nil; i++ {
		group.Go(func() error { return f(i) })
	}
	return group.Wait()
}
