// Package worktree reads and writes the user's directory. It is the only package
// that does.
//
// # Scan
//
// A [Scan] brings an index up to date with the disk and puts what is new into a
// [Sink]:
//
//  1. workers take directories from a stack, the root first
//  2. a directory is opened relative to its parent, listed, and walked beside its
//     old block: an entry whose stat matches is copied, another is read. It need not
//     be listed if its times show that no name has come or gone, see [index.Seal]
//  3. a name that the index does not hold is put to the ignore rules; rules are
//     read only then
//  4. a file is read between two stats that have to agree; after three failures it
//     is reported as unstable
//  5. the last child of a directory to finish makes its tree, so ids rise to the
//     root without a second pass
//
// What cannot be captured is an entry with a reason, not an error. An error means
// that the answer would be incomplete; the index is then as it was.
//
// # Apply
//
// An [Applier] carries out a plan that somebody else made, saved and recorded; see
// [Applier.Apply].
//
// Both work relative to open directories and follow no symlink, so that nobody can
// lead them out of the root by renaming things meanwhile.
package worktree
