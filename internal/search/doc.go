// Package search finds lines in the files of a state, and lines that no file has any more.
//
// A Pattern matches lines as git grep does. In searches one state. Deleted searches all states for
// lines that the newest one has nowhere.
package search
