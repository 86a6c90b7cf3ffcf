// Package gitrestore brings the user's git repository back to a recorded state, when its owner asks.
// No other package but usergit writes there.
//
// [Make] plans the way to one state. [TakeBack] plans to take steps out of the present state.
// [Applier.Apply] carries a plan out through the user's git program.
//
// Invariants:
//
//   - Only what a step has moved goes back. A ref that another program has moved since is a conflict
//     and stays. So does a branch that a linked work tree has checked out.
//   - Refs change in one transaction of git's, each only from the value in the plan, with an entry in
//     the reflog. If one has moved meanwhile, none changes.
//   - Objects come first: a ref never leads to an object that the repository lacks.
//   - No hook runs and no network is asked.
//   - A plan that would disturb an operation in progress is refused with the reason.
//   - A plan whose execution was cut short can be carried out again. It skips the finished parts.
package gitrestore
