// Package remotes has the commands that bring checkpoints to other machines and back, and check that a history is
// what it was.
//
// The lines of other stores stay at a remote as they are. A fetch changes no file; cairn resume goes back to a
// checkpoint after it. A failed push in the background is noted in the store and tried again by a later command.
package remotes
