package copies

import (
	"context"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
)

// Reasons why a path of the checkpoint is not in the copy.
const (
	reasonDenied  = "on the list of what is never stored"
	reasonGitlink = "a commit of another repository, which no store holds"
)

// list lists the paths of the checkpoint, directories before what lies below them.
func (c *checkout) list(ctx context.Context) error {
	dirs := make(map[string]bool)
	if err := c.listTree(ctx, "", c.state.Tree, dirs); err != nil {
		return err
	}
	// No tree holds these.
	for _, list := range [][]state.Path{c.state.Meta.Empty, c.state.Meta.Bare} {
		for _, path := range list {
			c.listDir(string(path), dirs)
		}
	}
	return nil
}

func (c *checkout) listTree(ctx context.Context, at string, tree object.ID, dirs map[string]bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := c.ReadTree(tree)
	if err != nil {
		return err
	}
	block := c.live.Dirs[at]
	for i := range entries {
		e := &entries[i]
		path := index.Join(at, e.Name)
		switch {
		case e.Mode == object.Dir:
			c.listDir(path, dirs)
			if err := c.listTree(ctx, path, e.ID, dirs); err != nil {
				return err
			}
		case e.Mode == object.Gitlink:
			c.conflict(path, reasonGitlink)
		case c.Denied(path):
			c.conflict(path, reasonDenied)
		default:
			c.items = append(c.items, c.item(path, e, block))
		}
	}
	return nil
}

func (c *checkout) conflict(path, reason string) {
	c.res.Conflicts = append(c.res.Conflicts, state.PathReason{Path: state.Path(path), Reason: reason})
}

// item is a file or link. Its live counterpart counts if the last capture found these contents in
// it and its stat proves that it has them still.
func (c *checkout) item(path string, e *object.Entry, block *index.Dir) apply.Item {
	it := apply.Item{Path: path, Mode: e.Mode, ID: e.ID}
	if e.Mode != object.Symlink {
		it.Perm = c.state.Meta.PermOf(path, e.Mode)
	}
	if block == nil {
		return it
	}
	rec := block.Find(e.Name)
	if rec == nil || rec.Skip() != index.Captured || rec.Racy() || rec.ID() != e.ID || rec.Mode().IsFile() != e.Mode.IsFile() {
		return it
	}
	it.Live, it.FromLive = rec.Stat(), true
	return it
}

// listDir lists a directory after those above it.
func (c *checkout) listDir(path string, dirs map[string]bool) {
	var missing []string
	for ; path != "" && !dirs[path]; path, _ = index.Split(path) {
		dirs[path] = true
		missing = append(missing, path)
	}
	for _, path := range slices.Backward(missing) {
		c.items = append(c.items, apply.Item{Path: path, Mode: object.Dir, Perm: c.state.Meta.PermOf(path, object.Dir)})
	}
}
