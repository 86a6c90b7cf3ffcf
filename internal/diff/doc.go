// Package diff prints the difference between two states as git prints it.
//
// Changes are compared file by file, a few small files ahead of the caller, so that memory
// follows the largest file and not the number of files. A file that is too large, or binary,
// gets one line that says so.
package diff
