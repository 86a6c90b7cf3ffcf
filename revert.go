package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/plan"
)

// ParsePolicy parses the name of a policy.
func ParsePolicy(name string) (Policy, error) { return plan.ParsePolicy(name) }

// Step is the work of one session, or of one operation, between two checkpoints.
type Step = plan.Step

// RevertOptions controls a revert.
type RevertOptions = plan.RevertOptions

// Policy decides about a path that was changed after the state that is taken back.
type Policy = plan.Policy

// Merge merges line by line. If that is not clean, the path stays as it is and is a conflict. With
// every policy, a file is saved before it is overwritten.
const Merge = plan.Merge

// Overwrite discards the later change.
const Overwrite = plan.Overwrite

// Keep leaves the path as it is.
const Keep = plan.Keep

// Fail does nothing at all if a path was changed later.
const Fail = plan.Fail

// Revert brings the files of patches back: each file to its state at the hash of the first patch
// that names it. A file that the tree of that hash lacks was created since and is deleted. Files
// that no patch names are not touched. For a directory that a patch names, only its permission bits
// go back. Patch.Files may be absolute, or relative to the root.
func (r *Repo) Revert(ctx context.Context, patches []Patch, opt RevertOptions) (*Result, error) {
	return r.operator.Revert(ctx, patches, opt)
}

// RevertTo takes back the changes since a checkpoint. With Overwrite, the default, every path goes
// back, as in Restore. With another policy, the changes up to the newest checkpoint go back, and
// the policy decides about later changes.
func (r *Repo) RevertTo(ctx context.Context, spec string, opt RevertOptions) (*Result, error) {
	return r.operator.RevertTo(ctx, spec, opt)
}

// RevertRange takes back the changes between two checkpoints, from and to, and nothing else. The
// policy decides about changes after to. Paths limits the revert.
func (r *Repo) RevertRange(ctx context.Context, from, to string, opt RevertOptions) (*Result, error) {
	return r.operator.RevertRange(ctx, from, to, opt)
}
