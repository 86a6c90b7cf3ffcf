// Package atrest encrypts a store for the time in which no process works with it.
//
// A sealed store is one encrypted stream, the file cairn/store.age: a tar archive of all files of the store. Beside
// it lie the version and the lock of the store, which tell nothing, and in that of a fork an empty file that says so:
// a root inside another one is found by it. The name of the store's directory follows from the path of the root, as
// before.
//
// # Steps
//
// [Seal] writes the stream into a temporary directory, flushes it, and opens it with the key. Only if the same bytes
// come out, the stream gets its name, which is the commit, and the open files go. [Unseal] unpacks the stream into a
// temporary directory and moves the files into place; the removal of the stream is the commit. After a kill between
// two steps the same call, or the other one, finishes the work.
//
// # Invariants
//
//   - While cairn/store.age is there it is the store. Every other file is a leftover, and nothing reads it.
//   - A file that is open goes only after the stream was read back with a key, or the caller has waived that.
//   - No file is written in place: an open pack may be a hard link to a file of the user's repository.
//   - The version of a sealed store is a later one, so a program that knows no sealed stores refuses it. The later
//     version is written before the stream gets its name, and goes after the stream.
//
// Removed files may stay readable on the disk until it writes over their blocks. Sealing hides what is left from
// those who copy the store, not from those who search the device.
package atrest
