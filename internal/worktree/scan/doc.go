// Package scan brings an index up to date with a directory on disk and puts the contents
// that it reads into a [Sink].
//
// A [Walk] goes through the directory like this:
//
//  1. Workers take directories from a stack, the root first.
//  2. A directory is opened relative to its parent, listed, and walked beside its old
//     block. An entry whose stat matches is copied, another one is read. The listing is
//     left out if the directory's times prove that no name has come or gone, see
//     [index.Seal].
//  3. A name that the index does not hold is checked against the ignore rules. Rules are
//     read only then.
//  4. A file is read between two stats that must agree. After three failures it is
//     reported as unstable.
//  5. The last child of a directory to finish makes its tree, so ids rise to the root
//     without a second pass.
//
// Invariants:
//
//   - Nothing on disk is changed.
//   - The bytes of a captured file are what the file held at one moment.
//   - A path that cannot be captured becomes an entry with a reason. An error means that the
//     answer would be incomplete; the index is then as it was.
//   - A stat that a later write could leave unchanged is marked as racy, and the file is
//     read again by the next walk.
//   - Every object that an id of the index names is in the sink when a walk returns.
package scan
