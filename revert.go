package cairn

import "context"

// Revert brings the files of patches back to what they were: each file to its state
// at the hash of the first patch that names it. A file that the tree of that hash
// lacks was created since and is deleted. Files that no patch names are not
// touched; of a directory that a patch names only the bits go back. Patch.Files may be absolute, or relative to the root.
func (r *Repo) Revert(ctx context.Context, patches []Patch, opt RevertOptions) (*Result, error) {
	return r.operator.Revert(ctx, patches, opt)
}

// RevertTo takes back what changed since a checkpoint. With Overwrite, the default,
// everything goes back, as in Restore. With the other policies what changed up to
// the newest checkpoint goes back, and what changed after that is treated as the
// policy says.
func (r *Repo) RevertTo(ctx context.Context, spec string, opt RevertOptions) (*Result, error) {
	return r.operator.RevertTo(ctx, spec, opt)
}

// RevertRange takes back what changed between two checkpoints, from and to, and
// nothing else: what was changed since to is treated as the policy says. Paths
// narrows it down.
func (r *Repo) RevertRange(ctx context.Context, from, to string, opt RevertOptions) (*Result, error) {
	return r.operator.RevertRange(ctx, from, to, opt)
}
