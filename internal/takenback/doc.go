// Package takenback works out which parts of a change operations have taken back: hunks, the mode, or
// all of it. What operations change beside that does not count: it may be the user's.
package takenback
