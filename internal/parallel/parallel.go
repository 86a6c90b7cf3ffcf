package parallel

import "sync"

// Run calls f in n goroutines, one of them the caller's, and returns when all calls have
// returned.
func Run(n int, f func()) {
	var others sync.WaitGroup
	if n > 1 {
		here := currentProcessor()
		for range n - 1 {
			others.Go(func() {
				here.leave()
				f()
			})
		}
		here.yield()
	}
	f()
	others.Wait()
}
