// Package watch tells which directories of a tree may have changed since the last call, so that a
// scan can leave out the others.
//
// It only says "may": the caller has to look. This order makes the answers exact:
//
//  1. Add a directory, then list it. Every later change in it is in the queue.
//  2. Changes empties the queue, then the directories are listed. A change after
//     the queue was emptied is in the next answer.
//
// The kernel queues an event before the call that caused it returns, so a change made before
// Changes is called is in its answer. A write through a memory map is in the first answer after the
// map has ended. The kernel reports no event for writes through another name of a hard-linked file,
// which the caller looks at each time, and for changes by another machine on a network file system.
//
// If the answer is not certain, Changes says that everything may have changed: the queue
// overflowed, a directory was moved or unmounted, a file system was mounted, or another directory
// is at the root's path. All watches are gone then, and the caller adds every directory again
// during its scan.
package watch
