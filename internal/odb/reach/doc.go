// Package reach finds the objects of a store that its roots lead to. It writes nothing.
//
// A [Census] lists the objects that are there at one time. A [Marker] starts at the roots
// that its caller names and marks each object that they lead to: parents, trees, entries of
// trees and the objects of tags. The caller names more roots at any time and runs the marker
// again.
//
// # Invariants
//
//   - A mark is never taken back. An object that becomes unreachable during the work stays
//     marked.
//   - An object that came after the census has no slot. The marker walks it, too.
//   - A commit, tree or tag that cannot be read blocks the marker, see [Marker.Blocked]: from
//     then on an unmarked object may be reachable. An unreadable or absent blob does not block,
//     it leads to nothing.
//   - The caller of [Marker.SetCut] decides where lines end. A commit that is no longer cut off
//     is walked once more, for its parents.
//   - A Marker is for one goroutine at a time.
package reach
