package hooks

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
)

// A tool may work in a repository, a linked work tree of git or a fork that lies below the project, in a directory that
// the project ignores: agents make such ones for sub-agents. Captures of the project leave it out. It cannot be a further
// root of the session, because two roots would have the same files once the rules change. So what a shell does there counts
// as not captured, and the user is told. An edit tool names its files, which are captured although they are ignored.

// nested is a root below the project.
type nested struct {
	Root    pathtext.Text `json:"root"`
	LeftOut bool          `json:"leftOut,omitempty"`
}

// noteLeftOut counts a step whose tool works where no capture looks.
func (h *hook) noteLeftOut(ctx context.Context) {
	if h.kind != before && h.kind != did || h.leavesOut == nil || len(h.paths) > 0 || h.dir == h.root || !realpath.Within(h.dir, h.root) {
		return
	}
	root, err := h.rootOf(h.dir)
	if err != nil || root == h.root || !realpath.Within(root, h.root) {
		return // a directory that is gone, or one of the project's own
	}
	if h.isLeftOut(ctx, root) {
		h.turn.Missed++
		h.turn.Why = pathtext.Place(root) + " lies in the project, and the project ignores it; an agent that is started there is recorded"
	}
}

// isLeftOut looks once in a turn. Where that fails nothing is said of it: the step itself is captured.
func (h *hook) isLeftOut(ctx context.Context, root string) bool {
	for _, n := range h.turn.Nested {
		if string(n.Root) == root {
			return n.LeftOut
		}
	}
	out, err := h.leavesOut(ctx, root)
	h.turn.Nested = append(h.turn.Nested, nested{pathtext.Text(root), out && err == nil})
	return out && err == nil
}
