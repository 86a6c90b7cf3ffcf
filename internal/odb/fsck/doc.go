// Package fsck verifies a store and repairs it.
//
// [Verify] yields a [Fault] for everything that is wrong, and [Repair] mends one fault. A fault
// says what its repair would do; a fault without a repair is a loss, for which the caller has to
// find another copy or change the history.
//
// # Invariants
//
//   - Verify writes nothing and needs no lock. A file that a running process is about to rename
//     or remove may be a fault; a second look with the lock held tells.
//   - Repair deletes nothing but temporary files of dead processes. Anything else that cannot be
//     used goes to cairn/damaged.
//   - Repair touches only the store, and only as the fault says.
//   - Of a damaged pack every intact object is saved before the pack is set aside.
//   - Nothing that a repair keeps is taken on trust: an object is read and compared with its id.
//   - Before a repair the redo log is emptied, because its recovery would write damaged files
//     again.
package fsck
