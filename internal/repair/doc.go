// Package repair finds the faults of a store and repairs them.
//
// Lost objects are searched for in the files that were set aside, on the disk, in the user's
// repository, in other stores and in remotes. An object that no place holds is cut out of its line.
// The older part of a line that is cut is set aside under a ref, and a list records every loss.
//
// Invariants:
//
//   - A finding is checked a second time with the lock held, so that work in progress is
//     no finding.
//   - Nothing that is whole is removed.
//   - A repair ends in a store that works, or changes nothing and says why.
package repair
