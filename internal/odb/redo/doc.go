// Package redo is the write-ahead log of small publishes: it makes several small files durable with
// one flush.
//
// A publish writes a pack, its index and refs. Without the log each of them is flushed. With it,
// their contents are appended to one file whose blocks lie on the disk already, and only that
// append is flushed. The files get their names at once and are not flushed. While the machine
// runs no process reads the log, because the kernel has the files. After a loss of power the next
// process that opens the store replays the log.
//
// A boot and a mount have a [Token]. Every record carries the token under which it was written,
// so that a process sees whether the kernel still has the files in memory.
//
// # The file
//
// It begins with eight bytes of magic and eight random bytes, the salt. Records follow: length,
// checksum, body. A checksum is the CRC-32 of the body, begun with the checksum of the record
// before; the first one is begun with the checksum of the salt. A new salt therefore empties the
// log. Numbers are little-endian, 32 bits. The blocks of the file are written and flushed when it
// is made, so that no append changes its size.
//
// # Invariants
//
//   - No file of a publish gets its name before the record of the publish is on the disk.
//   - The log is emptied only after everything that its records name is flushed: files, and the
//     directories of their names.
//   - Records of another token are replayed before a process appends a record or trusts the log.
//   - A process that was killed may leave its record last and not carried out. The caller of that
//     process was told nothing. The next process flushes and empties the log before it appends,
//     so that a later replay does not carry the record out.
//   - A publish that fails after its record is on the disk empties the log for the same reason:
//     [Writer.Abort].
//   - A process that changes refs without the log empties the log before. Otherwise a replay would
//     bring the old values back.
//   - Replay changes a ref only if the ref is gone, unreadable, or has a value that a record names.
//     Any other value was set by a program that does not know the log, and stays.
//   - Replay writes a pack only if its contents fit its name.
//   - A torn or damaged record ends the log. It is never an error to the reader of the store.
//   - The lock of the log is taken after the lock of the store, and by one goroutine at a time.
package redo
