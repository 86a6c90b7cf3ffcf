// Package plan computes the changes that bring the disk to another state, path by path.
//
// Make compares the disk, as a capture found it, with a target. The answer is a Plan: the
// changes, the paths whose contents have to be saved first, and the paths that stay, each
// with a reason. The package writes nothing.
//
// Invariants:
//
//   - A path that the target lacks is deleted only if it was certainly absent there, see
//     Absence. Other paths stay and are listed.
//   - The capture holds the contents that a plan overwrites or deletes, or the plan lists
//     them as losses, which the operation saves first.
//   - A plan that takes back a difference touches no path outside of the difference.
//   - Merge3 alone decides about a file that was changed since the difference.
package plan
