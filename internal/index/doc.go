// Package index is cairn's stat cache: it holds the stat and the object id of every path of the
// last capture, so that the next capture reads only files that differ. It is private to one store,
// can always be rebuilt, and is never trusted for a racy entry.
//
// # Format
//
// The unit is the directory block: the directory's path, the id of its tree and its encoded
// entries, sorted by name bytes. A scan compares a directory with its block without decoding it,
// and reuses the block of an unchanged directory. A [Seal] tells when the scan need not even list
// the directory.
//
// In a base, a path of 512 bytes and more says only how it differs from the path of the block before. In
// memory such paths share their bytes with the paths above them. So a chain of directories takes room in
// proportion to its depth.
//
// Two files lie in the store's private directory. The base holds all blocks and ends in a CRC-32.
// The delta belongs to one base (it repeats the base's random id) and holds appended records. A
// record has the blocks that changed, patches for blocks of which less than half changed, and the
// paths of removed directories. The patches of a block are applied together after the whole delta
// was read, so the cost of a load follows the size of both files and not the number of saves. The
// CRC of each record continues that of the record before, so a record is valid only after the
// records that preceded it when it was written. A torn last record is dropped. The state before it
// is older but consistent, because every entry carries the stat with which it was read. When the
// delta exceeds a quarter of the base, the base is rewritten: by Save at once, or by Fold when the
// caller chooses. A crash in between leaves the base alone, which is older but consistent.
//
// # Shared bases
//
// The first base of a fork's store is written beside that of the first store, a hard link to which lies in
// the file Shared. Of a directory with the same names only what differs is written: the times of change and
// inodes of all entries, as differences from the entry before, some six bytes a file instead of seventy.
// Where the shared base is absent or another one, the cache is malformed, and the next scan starts
// without it. The second base stands alone.
//
// # Racy entries
//
// A file can change after it was read without a change of its stat, if both happen in one tick of
// the file system's clock. An entry whose ctime or mtime is not older than the moment of reading is
// marked Racy and read again next time. Git's racy-git document has the reasoning.
package index
