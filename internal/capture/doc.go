// Package capture turns the disk into a state of a store.
//
// A capture applies the ignore rules in force, compares the directory with the stat cache,
// reads what differs, and publishes new objects, refs and the stat cache in that order.
//
// Invariants:
//
//   - A Snapshot vouches for every path that it does not list as left out. A path that
//     moved while it was read is listed.
//   - A process that dies during a capture leaves the store as it was, or with objects that
//     nothing leads to.
//   - The stat cache is an aid. Without it, or with a stale one, a capture reads more and
//     answers the same.
//   - Only the holder of the lock captures. Forget drops the memory of the last capture when
//     another process has had the lock.
package capture
