// Package purge rewrites the history of a store without a path.
//
// Every commit that holds the path gets a new id. The old ids stay known as replaced, so
// that a caller who has one finds the checkpoint. The path is not captured again until
// Unpurge lifts that.
//
// Invariants:
//
//   - New commits are durable before the first ref moves. A process that dies on the way
//     leaves a sound store, and the same call does the rest.
//   - After a purge no ref, journal or stat cache leads to the contents of the path.
package purge
