// Package envelope holds the form in which the lines of a store lie sealed on a git remote, and what a store
// remembers of it. It speaks to no remote: package transfer does.
//
// A store has a random id for each remote. refs/cairn/sealed/<id> points to the note, a blob: one sealed
// stream that says whose the lines are, what their newest commits are and which parts hold them.
// refs/cairn/parts/<id>/<name> points to a part, a tree of blobs: one sealed stream, cut into pieces, of a
// pack. A part holds what the parts before it in the note lack, and has deltas against them.
//
// Invariants:
//
//   - No name of a ref and no object on the remote has a byte of what is sealed. A part is named by the hash
//     of its sealed bytes.
//   - The note names each part by the hash and size of its sealed bytes: a part of another note, an older one
//     and one that was altered is refused before its end.
//   - The number of a note only grows, and every note of an id has the same proof, which only readers of one
//     know. A reader that has seen one refuses an older note and one that another program made.
package envelope
