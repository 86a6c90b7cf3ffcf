// Package index is cairn's stat cache: what the last capture saw of every
// directory, so that the next one reads only what differs. It is private to one
// store, always rebuildable, and never trusted where an entry is racy.
//
// # Format
//
// The unit is the directory block: the directory's path, the id of its tree and
// its encoded entries, sorted by name bytes. A scan compares a directory with its
// block without decoding it, and hands an unchanged block on as it is. A [Seal] tells
// when it need not even list the directory.
//
// Two files lie in the store's private directory. The base holds all blocks and ends
// in a CRC-32C. The delta belongs to one base (it repeats the base's random id) and
// holds appended records: blocks that changed, patches for those of which less than
// half did, and paths of directories that went. The patches of a block are applied
// together, when all of the delta has been read: what a load costs follows the size
// of both files, however many saves there were. The CRC of each record goes on from
// that of the record before, so that a record counts only behind those it was
// written behind. A torn last record is dropped; the state before it is older but
// consistent, because every entry carries the stat it was read with. When the delta
// outgrows a quarter of the base, the base is written anew: by Save there and then, or
// by Fold when the caller likes. A crash in between leaves the base alone: older, but
// consistent.
//
// # Racy entries
//
// A file can change after it was read without its stat changing, when both fall
// into one tick of the file system's clock. Such an entry (its ctime or mtime is
// not older than the moment of reading) is marked Racy and is read again next
// time; see git's racy-git document for the reasoning.
package index
