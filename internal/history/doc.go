// Package history keeps states in a store: checkpoints are commits, lines are refs, and
// operations are commits with the states before and after as parents.
//
// The package reads, looks up, walks, compares and adds states. It does not look at the
// user's directory.
//
// Invariants:
//
//   - A ref keeps alive everything that is reachable from it. A checkpoint is handed out only
//     after its objects and a ref that reaches it are in the store.
//   - Store.Exclusive runs its function with the store's lock held and after interrupted
//     operations are finished. The function gets a Locked, which everything that needs the
//     lock takes as a parameter.
//   - Hidden fields of the public types are read by the functions in access.go.
package history
