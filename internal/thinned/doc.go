// Package thinned keeps the list of the checkpoints that a cleaning has thinned: their states are gone,
// and their place on their line stays.
//
// Git accepts no commit whose tree is missing. So a thinned commit is no object of the store any more.
// Its bytes are a blob in the tree of the commit that Ref leads to, under its id. The commit after it is
// in git's shallow file, which makes it the beginning of a line for git. The kept commits before it
// are parents of the commit that Ref leads to, which keeps them alive. Any git verifies, packs and clones
// such a store. This module goes on from the shallow commit by the list.
//
// Invariants:
//
//   - Every id of the list is the hash of the bytes that the list has for it.
//   - The first parent of a listed commit is listed, or a parent of the commit that Ref leads to, unless
//     the record says that the line ends there.
//   - The list changes in one move of Ref, before the objects that it replaces go.
package thinned
