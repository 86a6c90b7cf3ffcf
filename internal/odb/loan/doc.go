// Package loan gives loose blobs of another repository a second name in a store, so that a first
// capture need not read, hash and compress the files that they came from.
//
// Invariants:
//
//   - Nothing is written to the other repository. A link only raises the link count of a file.
//   - A file is linked only if it is regular and no user has permission to write to it, and if its
//     header says a blob of the wanted size. The contents are not verified here: every read compares an object with its id.
//   - An object that cannot be linked, for whatever reason, is left out. The caller reads the file.
//   - The links, and the contents behind them, are on the disk when Take returns, unless the caller
//     does without: git itself does not flush loose objects.
//
// Only Linux can flush so many files in one wait (syncfs). Elsewhere Take links nothing.
package loan
