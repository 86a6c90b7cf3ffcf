// Package linediff compares two texts line by line the way git diff does: the
// same counts, the same hunks, the same bytes, and it merges three texts the way
// git merge-file does.
//
// A comparison goes through these stages:
//
//  1. cut both texts into lines; a line keeps its '\n', the last may lack it
//  2. set aside the common lines at both ends
//  3. give equal lines equal numbers                        (intern.go)
//  4. drop the lines that cannot, or should not, be matched (discard.go)
//  5. find a short edit script: Myers's linear-space divide
//     and conquer with limits on the effort                 (myers.go)
//  6. collect the changed lines in groups and slide them to
//     where a person expects them                           (slide.go, indent.go)
//  7. print, or merge, or count                             (unified.go, merge.go)
//
// Counts need no stage 6. Memory is linear: about 60 bytes a line of either text,
// none for the bytes of the lines. Stage 5 gives up looking for the shortest
// script after some hundred edits, so that even hostile texts of N lines take
// about N√N steps. Nothing recurses.
//
// The rules come from Myers, "An O(ND) difference algorithm and its variations"
// (1986), from git's documentation, from what the git program prints (the tests
// ask it) and from two Apache-2.0 programs with the same aim, znkr.io/diff and
// imara-diff, as descriptions of the heuristics. Nothing here was taken from the
// code of git or of its diff library.
//
// Not supported: other algorithms, other whitespace options than -w, word diffs, renames,
// user-defined headings, text conversion. Attributes and configuration do not
// exist for this package.
package linediff
