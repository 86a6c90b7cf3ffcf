// Package best runs one command in several forks of a directory side by side, and ranks the results.
//
// All forks are made before the first command starts, so that a disk without room for them stops the run
// early. Each command runs apart from the terminal with an output file of its own, and its work is
// recorded as cairn run records it. A test may follow in each fork; its result is noted in the store of
// the fork. Forks stay: the caller compares, merges and removes them.
package best
