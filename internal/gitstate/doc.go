// Package gitstate reads the state of the user's git repository: HEAD, refs, index, stash,
// operations in progress, linked work trees. It compares two such states in words.
//
// [Read] makes a [Record]. A record has parts: texts and files, each with a path. The parts of equal
// states are equal, so they can be stored as a git tree and compared by its id. [Stamps] tell by stat
// alone whether a repository still is as it was read.
//
// Invariants:
//
//   - Nothing is written, and nothing outside the repository's own directories is read. A symbolic
//     link is not followed. A FIFO or a device is not opened. Sizes and numbers are limited.
//   - What cannot be read is a note in the record, never an error: the rest still counts.
//   - Only a reftable needs the git program. All else is read directly.
package gitstate
