package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/plan"
)

// ParsePolicy reads the name of a policy.
func ParsePolicy(name string) (Policy, error) { return plan.ParsePolicy(name) }

// Step is what one session, or one operation, did between two checkpoints.
type Step = plan.Step

// RevertOptions says how to revert.
type RevertOptions = plan.RevertOptions

// Policy says what becomes of a path that was changed since the state that is being
// taken back.
type Policy = plan.Policy

// The policies. With each, what is overwritten is saved first.
const Merge = plan.Merge

const Overwrite = plan.Overwrite

const Keep = plan.Keep

const Fail = plan.Fail

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
