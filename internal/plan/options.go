package plan

import (
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
)

func IsDirectory(c *apply.Change) bool {
	return c.Action == apply.Mkdir || c.Action == apply.Rmdir || c.Mode == object.Dir
}

// RevertOptions says how to revert.
type RevertOptions struct {
	Paths      []string // and everything below them; none = all. Not for Revert, whose patches name the files
	OnConflict Policy   // "" = Overwrite for Revert, Merge for everything else
	DryRun     bool     // only say what would be done
	Plan       string   // id of the plan to carry out; ErrMoved if it would be another one now

	// Claims are the paths that the tools of the step named, and Others the steps of
	// other sessions that overlap it, for RevertRange. What another session claimed is
	// kept; what both may have changed is a conflict, unless OnConflict is Overwrite.
	Claims []string
	Others []Step
}

const ReasonInTheWayOf = "something else stands there now: "
