// Package watch tells which directories of a tree may have changed since one last
// asked, so that a scan need not look at the others.
//
// It only ever says "may": who asks has to look. The order that makes the answers
// exact is this:
//
//  1. Add a directory, then list it. What happens in it from then on is in the queue.
//  2. Changes takes everything out of the queue, then the directories are listed.
//     What happens after the queue was emptied is in the next answer.
//
// The kernel puts an event into the queue before the call that caused it returns, so
// a change that was made before Changes is called is in its answer. Changes that the
// kernel reports nowhere are not: writes through a memory map, writes through another
// name of a hard-linked file, and what another machine does on a network file system.
//
// Whenever the answer is not certain, Changes says that everything may have changed:
// the queue overflowed, a directory was moved or unmounted, something was mounted,
// the root is another one. Then all watches are gone, and the caller adds each
// directory anew while it scans.
package watch
