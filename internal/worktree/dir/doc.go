// Package dir holds handles of directories that follow no symlink, and what an lstat tells
// of the names in them.
//
// Invariants:
//
//   - A name is resolved relative to an open directory, and a symlink at that name is never
//     followed. Renames by other processes therefore cannot lead a caller out of its root.
//   - A directory that is opened is the directory that lstat saw, or the call fails.
//   - No function here changes the user's directory. A [Stack] makes missing directories
//     only by the function that its caller passes.
//   - An [Info] has the same fields on every system; a field that a system does not know is zero.
package dir
