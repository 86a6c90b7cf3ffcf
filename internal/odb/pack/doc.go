// Package pack reads and writes one pack of git's: the file of objects and its index. It
// knows no store.
//
// A [Writer] collects entries and seals them under temporary names. [Sealed.Place] gives the
// two files their final names. A [Pack] finds the entry of an object by the index, and
// [Bases] turns entries, deltas among them, into objects. An [Encoder] writes a pack to a
// stream; [Receive] reads one from a stream and computes the ids of its objects.
//
// # Invariants
//
//   - [ReadVerified], [ReadThrough] and [Stream] compare contents with the id of the object.
//     A damaged file gives ErrCorrupt, never wrong bytes.
//   - [Pack.Find] finds nothing in a pack whose number of objects or checksum differs from
//     what its index states.
//   - No file has its final name before it is complete. The index of a pack of cairn's is
//     renamed last, so a pack with an index is whole. Nothing here flushes: callers do.
//   - A pack that cairn writes for itself has a name that follows from its checksum, see
//     [OwnName], and differs from git's.
//   - A size that a file claims decides about memory only after it was found plausible.
//   - A Writer holds 32 bytes for each object and at most a few times SpillAt of contents.
package pack
