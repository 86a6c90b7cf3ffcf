// Package peers has the contenders, each behind the same interface and in a process of its own.
//
// A contender carries out the operations that its kind lists. What one holds in memory, and its peak, is not that of
// another one. Driver and worker speak JSON over pipes.
package peers
