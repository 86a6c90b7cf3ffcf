// Package gitrestore brings the user's git repository back to a recorded state, when its owner asks.
// It is the only package that writes there.
//
// [Make] plans: it compares the state to go to, the state that the step to take back has left, and the
// present state. [Plan.Apply] carries the plan out through the user's git program.
//
// Invariants:
//
//   - Only what the step has moved goes back. A ref that another program has moved since is a conflict
//     and stays. So does a branch that a linked work tree has checked out.
//   - Refs change in one transaction of git's, each only from the value in the plan, with an entry in
//     the reflog. If one has moved meanwhile, none changes.
//   - Objects come first: a ref never leads to an object that the repository lacks.
//   - No hook runs and no network is asked.
//   - A plan that would disturb an operation in progress is refused with the reason.
package gitrestore
