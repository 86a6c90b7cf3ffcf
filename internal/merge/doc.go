// Package merge brings what changed in another directory, or at another checkpoint, into this one,
// and compares what several of them changed.
//
// Both begin at the checkpoint that the two sides have in common. A merge is the revert of the
// other side's changes the other way round: the plan, its refusals and the operation are those of
// a revert. The package adds the search for the common checkpoint and follows renames.
//
// Invariants:
//
//   - Nothing but this root and this store is written.
//   - A change of the other side comes in as a whole, merges cleanly with the work here, or is
//     listed as a conflict, and then its path stays as it is here.
package merge
