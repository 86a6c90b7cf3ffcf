// Package setup connects coding agents with cairn: it edits their configuration so
// that they call cairn hook, and takes the entries out again.
//
// The files belong to the user. An edit changes the bytes that it is about and no
// others: comments, order, indentation, line ends and a byte order mark stay, in JSON
// with comments as in plain JSON. A copy from before the first edit is kept beside the
// file, and removing cairn restores exactly that if nothing else has changed since. A
// file that cannot be understood is not touched. Files are replaced in one step, with
// their permissions, and behind a symlink where they are one.
//
// # Order of work
//
//	New     reads the files and works out every edit, in memory
//	Diff    shows them
//	Apply   makes the backups, checks that the files are as they were read, writes
package setup
