// Package trial runs a command on states of the past: it finds the first one at which the command fails.
//
// The states are those of one disk in the order of their times ([Steps]). Each that is tried is laid out
// in a scratch copy ([Copy]), a directory that belongs to this process. Between two states only the files
// that differ are written, and those that the command has changed. Other files that the command has made
// stay, as after a build. Nothing outside of the copy is written, and the user's directory is not
// read. A copy whose process is dead is removed by the next one.
//
// A result is noted with its checkpoint when the command has ended. A search that was interrupted finds
// the results of its first part, and so goes on where it was.
package trial
