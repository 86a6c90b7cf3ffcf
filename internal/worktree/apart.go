package worktree

import "sync"

// Apart calls run in n goroutines, the caller's among them, and returns when all have. On
// Linux they begin on different processors, as far as there are any.
//
// The kernel puts a thread that it wakes on a processor that has nothing to do, or so it
// means to. One of a virtual machine that has given its time back to the host does not
// count as such, and all threads would share one processor until the next tick of the
// clock, 4 ms or more. A small tree is scanned by then.
func Apart(n int, run func()) {
	var others sync.WaitGroup
	if n > 1 {
		here := thisProcessor()
		for range n - 1 {
			others.Go(func() {
				here.leave()
				run()
			})
		}
		here.makeWay()
	}
	run()
	others.Wait()
}
