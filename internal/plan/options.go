package plan

import (
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
)

// IsDirectory reports whether a change makes or removes a directory, or sets its bits.
func IsDirectory(c *apply.Change) bool {
	return c.Action == apply.Mkdir || c.Action == apply.Rmdir || c.Mode == object.Dir
}

// ReasonInTheWayOf begins the reason of a path that stays because of another one.
const ReasonInTheWayOf = "something else stands there now: "
