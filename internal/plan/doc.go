// Package plan works out what going from the disk to another state would do, path by path.
//
// Make compares the disk, as a capture found it, with a target. The answer is a Plan: the
// changes, the paths whose contents have to be saved first, and the paths that stay, each
// with a reason. The package writes nothing.
//
// Invariants:
//
//   - A path that the target lacks is deleted only if it is known to have been absent
//     there. Everything else that stays is listed.
//   - Whatever the plan overwrites or deletes is held by the capture or listed as a loss,
//     which the operation saves first.
//   - A plan that takes back a difference touches no path outside of that difference.
package plan
