package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/copies"
)

// ForkOptions controls a fork. DryRun only counts; it captures the root first, as a fork does.
type ForkOptions = copies.ForkOptions

// ForkResult says what a fork made, or in a dry run would make.
type ForkResult = copies.ForkResult

// Fork makes a new directory with the present state of the root, which is captured first, or with the
// newest state of a session, and a store for it. The directory is made as by Checkout. The store begins
// with the whole history of this one: checkpoints, sessions, operations, pins. Its packs are hard links
// where the file system has them, so it takes next to no room, and no cleaning of one store harms the
// other. Undo, Log and Diff of the new directory work at once. From then on the two go their own ways;
// Merge and Compare find the checkpoint that they have in common.
//
// After a fork of a session, the first Undo in the new directory leads to the present state of this one.
// Sessions that work in several directories are not forked and listed; to fork one of them is ErrPlace.
//
// With GitWorktree the directory is a linked work tree of the user's git repository, on a new branch,
// with the index that the checkpoint records. A branch that exists is ErrExists. A repository that
// cannot have a linked work tree, or has an operation in progress, is ErrWorktree. Then nothing is
// done.
//
// The directory may lie inside the root where the root ignores it. Else its place is restricted as for
// Checkout. A store with checkpoints of an earlier directory of this name is ErrExists. A killed process
// leaves either no directory, and the next Fork to the same place removes what is there, or all of it.
func (r *Repo) Fork(ctx context.Context, dir string, opt ForkOptions) (*ForkResult, error) {
	defer r.store.Trees.DropLarge()
	return r.copier.Fork(ctx, dir, opt)
}
