// Package blame tells which version of a file brought each of its lines.
//
// Of is the algorithm. It goes over all versions of one file, the oldest first, and gives
// every line an identity when it first appears. A line keeps its identity while a comparison
// of two neighbouring versions keeps it. So the answer is the same for lines that are still
// there and for deleted ones, and a version is compared once, however many lines are asked for.
//
// A line that comes back gets its old identity in two cases:
//
//   - The whole content equals that of an earlier version, whatever brought it back: an undo,
//     a checkout of git, an editor.
//   - The version is marked as restored, by an operation of cairn. A merge may have brought
//     back only a part. The line that disappeared last is taken first.
//
// In any other case a line that is written a second time is a new line.
//
// History collects the versions of a path from the states of a store, across renames.
//
// No guarantee: equal lines cannot be told apart. Among several of them the comparison decides,
// as it does in a diff.
package blame
