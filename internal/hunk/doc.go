// Package hunk names the changed places of a file, so that a caller can choose some of them, and
// takes the chosen ones back.
//
// A hunk is one run of changed lines. The texts before and after are fixed contents of two
// states; the file on disk plays no part here. TakeBack makes the text that lacks the chosen
// hunks, and a three-way merge brings that to the disk, as it does for a whole file.
//
// A name holds while other hunks of the file come and go. It is made of the path, the removed and
// the added lines, and up to three lines before and after in the old text, which no other hunk
// can change. Equal hunks between equal lines are numbered from the top, so that the names of
// these, and only of these, change when one of them goes.
package hunk
