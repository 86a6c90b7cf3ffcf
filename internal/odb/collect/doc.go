// Package collect drops the objects that nothing leads to, beside writers.
//
// [Run] marks what refs, HEAD, journals and the caller's roots lead to, and plans jobs: packs
// and loose objects that go, after their live objects were copied into one new pack. Marking and
// copying happen without the lock of the store. For each job Run then takes the lock for a
// moment, marks what refs and journals have come to lead to meanwhile, and either
//
//   - gives the job up and plans it again, if an object that is about to go has been marked
//     since, or
//   - gives the new pack its name and takes the old packs away.
//
// # Invariants
//
//   - Every object that goes is unreachable by the refs and journals of the very hold of the lock
//     in which it goes. A writer that holds the lock from its look-up of an object until a ref
//     leads to the object never loses it.
//   - A new pack is flushed and has its name before an old pack loses its own.
//   - A pack that came after the marking began is not touched. Neither is a pack with a .keep
//     file, unless it is borrowed.
//   - If a commit, a tree or a ref cannot be read, or the store has lost all its refs, nothing is
//     dropped: [Result.Blocked].
//   - The redo log is emptied before objects go, because it may hold copies of them.
//   - A process that waits for the lock gets it between two jobs, and while much is to be marked.
//   - One collection works in a store at a time: [ErrBusy].
//
// After a crash, an error or the end of the context the store is sound, and the finished jobs
// stay done.
package collect
