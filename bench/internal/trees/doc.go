// Package trees makes the directories that are measured: synthetic ones, and copies of real sources.
//
// The same numbers make the same tree, byte for byte, on every machine. Edits name the same files in every copy of a
// tree, so that contenders can be compared.
package trees
