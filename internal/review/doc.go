// Package review is the terminal interface over sessions: turns with their prompts, files, hunks.
// A hunk, a file or a turn can be accepted or taken back.
//
// The model is pure: it turns messages of the library bubbletea into a new state and a screen. All
// work with a store is behind the interface Source and runs in commands, which have goroutines of
// their own. A result carries the number of the selection that asked for it, so a late answer
// changes nothing, and a new selection cancels the work of the old one.
//
// No byte of a file, a name or a prompt reaches the terminal as it is: text.go replaces whatever is
// not printable.
package review
