package plan

import (
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
)

func IsDirectory(c *apply.Change) bool {
	return c.Action == apply.Mkdir || c.Action == apply.Rmdir || c.Mode == object.Dir
}

const ReasonInTheWayOf = "something else stands there now: "
