// Package purge rewrites the history of a store without a path.
//
// Every commit that holds the path gets a new id. The store records which id replaced an old one,
// so a caller with an old id still finds the checkpoint. The path is not captured again until
// Unpurge.
//
// Invariants:
//
//   - New commits are durable before the first ref moves. A process that dies on the way
//     leaves a sound store, and the same call completes the purge.
//   - After a purge the path's contents are not reachable from any ref, journal or stat cache.
package purge
