// Package apply carries out a plan of changes below one directory. No name ever refers to a
// half-written file.
//
// The caller makes the plan, saves what it replaces and records it; an [Executor] carries
// it out, see [Executor.Run].
//
// Invariants:
//
//   - This is the only package that writes to the user's directory.
//   - Contents go into a temporary file beside their path, are read back and compared with
//     their id, and then renamed. A file is never written in place.
//   - A path is checked again right before it is replaced or removed. It is left alone
//     unless it is in the state that the plan expects.
//   - Every step is relative to the handle of a directory that lies below the root, and
//     follows no symlink.
//   - A plan that was interrupted is finished by running it again with Resume.
package apply
