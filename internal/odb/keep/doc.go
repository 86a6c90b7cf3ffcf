// Package keep keeps the objects of the user's repository alive that a later undo may need.
//
// A vault is a bare git repository inside a store, with the object format of the user's repository.
// Packs and loose objects are hard links to the files of the user's repository, or copies where the system
// makes no links. So they survive a gc, a prune, and the removal of the whole repository. A git can
// read the vault. The vault tells git to delete nothing in it.
//
// Invariants:
//
//   - Nothing is written to the user's repository. A link only raises the link count of a file.
//   - A file has its name in the vault only once it is complete. The index of a pack comes last.
//   - A link takes no room while the user's repository has the file. What takes room, copies and
//     files that the repository has dropped, is bounded by the caller.
//   - A loose object that lies in the store around the vault is not taken once more. Git in the vault
//     reads the store's objects, and a collection moves a loose object that the store drops into the vault.
//   - A file goes when the repository has dropped it before the oldest record that may need it, or
//     when a pack that the repository has holds all its objects.
//   - Callers hold the lock of the store.
package keep
