// Package parallel calls a function in several goroutines that begin on different
// processors.
//
// The kernel places a woken thread on an idle processor. A virtual processor that has
// returned its time to the host does not count as idle. All new threads then share one
// processor until the next clock tick, which takes 4 ms or more: longer than the scan of a
// small tree. On Linux each new goroutine therefore leaves its creator's processor first.
//
//   - A thread has the same set of allowed processors before and after Run.
//   - Elsewhere than on Linux, Run only starts the goroutines.
package parallel
