// Package odb is cairn's store: a bare git repository that any git can read, verify, repack and
// push. The package reads and writes it without a git.
//
// # Layout
//
//	HEAD config objects/{info,pack} refs/{heads,tags,cairn}    as git has them
//	cairn/version       "1", the version of this layout
//	cairn/root          the absolute path of the directory that the store belongs to
//	cairn/lock          an empty file that carries the kernel lock
//	cairn/lock.holder   the holder of the lock, or the last one: for messages and for other machines
//	cairn/lock.wait     carries the kernel locks of the processes that wait for the lock
//	cairn/collect       carries the kernel lock of a collection
//	cairn/damaged/      files that a repair has set aside
//	cairn/journal/      records of operations under way
//	cairn/redo          the write-ahead log of small publishes
//	cairn/index*        private files of package index
//
// Package pack reads and writes a single pack; this package knows the packs of the store. Package
// redo is the write-ahead log. The packages above, reach, collect and fsck, find the reachable
// objects, drop the others, and verify and repair the store.
//
// # Writing
//
// A [Batch] becomes one pack and its index, whatever the number of objects. Both are written
// under temporary names, flushed, and renamed, the pack first: an object is in the store when its
// index is. [DB.Fold] keeps the number of packs small by copying entries from many packs into
// one. It touches only packs that this package wrote. Their names show it: pack-<hex>, where git
// uses the checksum of the pack, and this package a hash of that checksum.
//
// The files of a small publish are not flushed one by one. Their contents are appended to the
// write-ahead log, which is flushed once, and reach the disk when the kernel writes them or a
// fold flushes them. After a loss of power Open brings them back from the log. Another program
// that reads the store between the two may find torn files.
//
// # Reading
//
// Contents are always compared with the id by which a caller asks for them: the answer is the
// right bytes or an error. Damage in one pack does not affect the objects of another. Packs come
// and go at any time, by a fold in another process or a repacking git. A look-up that fails lists
// the packs again before it gives up.
//
// # Locking
//
// [DB.Lock] excludes other writers. Reading needs no lock. A caller may fill a batch without the
// lock if it knows that no object that it refers to is garbage. Commit, Fold, Sweep, SetRef and
// DeleteRef are called with the lock held; their comments say so where more than tidiness depends
// on it.
//
// # Invariants
//
//   - An object is visible only by an index whose pack is complete. A ref is set only when its
//     objects are on the disk or in the write-ahead log.
//   - A file is replaced by a rename, never in place. Only the record of the lock's holder and the
//     write-ahead log are overwritten.
//   - The name of a pack of this package follows from its contents, so two packs of one name are
//     interchangeable.
//   - A pack with needed objects is removed only when the pack that replaces it is on the disk,
//     and the index goes first. A reader that meets a removed pack looks in the other packs.
//   - A temporary file carries the claim of its process. Sweep removes the files of dead processes
//     only.
//   - The locks are taken in one order: the turn among the goroutines of a DB, the kernel lock of
//     the store, the write-ahead log, git's lock of packed-refs. The mutex of the set of packs is
//     the innermost, and no file is flushed under it.
package odb
