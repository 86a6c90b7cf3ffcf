// Package state says what a checkpoint tells of a tree, without a store and without a disk.
//
// A State is a tree together with its Metadata: permission bits, empty directories, ignore
// rules that no tree holds, and the paths that were present but not captured. A Coverage
// answers which paths a checkpoint knows nothing about. A PathScope selects paths.
//
// Invariants:
//
//   - Everything here is a value or a pure function. Only ResolveRoot looks at a disk.
//   - A path is relative to the root, '/'-separated and clean. Its bytes may be any but NUL.
//   - Encoded metadata are the same for equal states, so equal states make equal commits.
//   - Metadata of a higher version are refused, never guessed.
package state
