// Package repair finds what is wrong with a store and mends it.
//
// Lost objects are looked for in what was set aside, on the disk, in the user's repository,
// in other stores and in remotes. What no place holds is cut out of its line. Older parts
// of a line that is cut are set aside under a ref, and a list says what went.
//
// Invariants:
//
//   - A finding is checked a second time with the lock held, so that work in progress is
//     no finding.
//   - Nothing that is whole goes.
//   - A repair ends in a store that works, or changes nothing and says why.
package repair
