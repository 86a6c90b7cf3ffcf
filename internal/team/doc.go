// Package team keeps what machines have pushed to a git repository ready to be shown: a list of the
// projects there, and a cache of each project that was asked for.
//
// A cache is a store of its own below Options.Dir, filled by fetches with their quarantine. It takes no
// checkpoints. The remote is only read.
//
// The list and each project are looked at again when they are asked for, at most once in Options.Every.
// A look that fails leaves the last state, which is shown with the error. Looks go on when the caller
// gives up, so that the next one finds their result.
package team
