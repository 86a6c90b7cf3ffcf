package copies

import (
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// listCarried lists files of the live directory that every fork gets although captures leave them out. The
// checkpoint wins where it has something in the way.
func (c *checkout) listCarried(paths []string) {
	made := make(map[string]object.Mode, len(c.items)+len(c.ignored))
	for _, list := range [][]apply.Item{c.items, c.ignored} {
		for i := range list {
			made[list[i].Path] = list[i].Mode
		}
	}
	for _, path := range paths {
		if rec := c.live.Lookup(path); rec != nil && rec.Skip() == index.Captured || !filepath.IsLocal(filepath.FromSlash(path)) {
			continue
		}
		items, ok := c.carried(path, false, made)
		if !ok {
			continue
		}
		for i := range items {
			made[items[i].Path] = items[i].Mode
		}
		c.ignored = append(c.ignored, items...)
		c.carry = append(c.carry, path)
	}
}

// carried returns a file or directory and the directories above it that are not made yet. It reports false
// where that is of another kind or behind a symlink, and where another file is to be made.
func (c *checkout) carried(path string, isDir bool, made map[string]object.Mode) (items []apply.Item, ok bool) {
	above, _ := index.Split(path)
	if above != "" && made[above] != object.Dir {
		if items, ok = c.carried(above, true, made); !ok {
			return nil, false
		}
	}
	info, err := os.Lstat(filepath.Join(c.Root, filepath.FromSlash(path)))
	_, taken := made[path]
	if taken || err != nil || info.IsDir() != isDir || !isDir && !info.Mode().IsRegular() {
		return nil, false
	}
	live := dir.InfoOf(info)
	it := apply.Item{Path: path, Mode: live.Mode, Perm: live.Perm, Live: live.Stat, FromLive: !isDir}
	if isDir {
		it.Live = index.Stat{MTime: live.Stat.MTime}
	}
	return append(items, it), true
}
