// Package copies has the commands about directories beside the root: checkouts and forks, several compared, and
// one merged in.
//
// Only cairn merge changes files of the root. The settings of another directory are its own.
package copies
