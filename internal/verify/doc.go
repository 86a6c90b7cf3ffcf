// Package verify checks that the history of a store is whole, and that its checkpoints are linked as
// they say. It changes nothing.
//
// A difference from a whole history is either a known gap or a finding. A known gap is one that cairn
// itself has made and recorded: a cleaning, a purge, a repair. Everything else is a finding.
//
// Invariants:
//
//   - Every object of a checkpoint in question is read to its end, and its bytes are hashed again.
//   - A finding of a pass without the lock counts only if a pass with the lock has it, too: a cleaning
//     may drop objects meanwhile.
package verify
