// Package operation carries out plans so that a crash at any point can be finished.
//
// An operation captures the disk, makes its plan, saves what the plan would lose, publishes
// the state before, writes a journal, applies the plan and records itself. The next holder
// of the lock finishes what a journal describes. The package also updates the lines of
// sessions, because a revert of a session and its record are stored together or not at all.
//
// Invariants:
//
//   - The disk changes only while a journal is on the disk of the store.
//   - The state before can be restored from the moment that the journal is written.
//   - The journal goes only after the record of the operation is durable.
package operation
