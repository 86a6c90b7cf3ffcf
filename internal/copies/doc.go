// Package copies puts checkpoints into directories of their own.
//
// A checkout lists what the checkpoint holds, and on request what the live directory ignores. The
// stat cache says which live files still have the contents that the checkpoint wants: they are
// cloned, or copied where the file system cannot clone. All other contents come out of the store.
// The directory is made beside its place and renamed when it is whole
// ([github.com/seed-fb9cbc17/cairn/internal/worktree/apply.NewDir]), so a process that is killed
// leaves either nothing at the path or all of it.
//
// The live directory is only read. The store changes by no more than a capture.
package copies
