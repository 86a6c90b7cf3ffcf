// Package remotes has the commands that bring checkpoints to other machines and back, and check that a history is
// what it was.
//
// A push deletes nothing at a remote, and a fetch changes no file. A failed push in the background is noted in the
// store and tried again by a later command.
package remotes
