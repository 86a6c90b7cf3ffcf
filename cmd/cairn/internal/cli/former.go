package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/repair"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// takeAlong looks for the checkpoints of a root that has none at its path. The store of a renamed root comes
// along here, before a server is asked, so that the user hears of it. The command reports errors: it opens the
// store, too.
func (c *Program) takeAlong(opt cairn.Options) {
	root, err := realpath.Of(opt.Root)
	if err != nil || c.tookAlong == root || c.Running == "adopt" || Exists(cairn.StorePath(opt.DataDir, root)) {
		return
	}
	c.tookAlong = root
	if _, ok := repair.Renamed(opt.DataDir, root); !ok {
		c.tellOfNamesake(opt, root)
		return
	}
	opt.MustExist = true
	repo, err := cairn.Open(opt)
	if err != nil {
		return
	}
	if former := repo.Adopted(); former != "" {
		c.Console.Remark("this directory was %s before; its checkpoints came along", pathtext.Place(former))
	}
	_ = repo.Close() // nothing was written
}

// tellOfNamesake says where a directory of the same name has checkpoints, before the root gets a store.
func (c *Program) tellOfNamesake(opt cairn.Options, root string) {
	if opt.MustExist || c.Console.Quiet || slices.Contains(takesOver, c.Running) {
		return
	}
	if former := repair.Namesake(opt.DataDir, root); former != "" {
		c.Console.Remark("%s is gone, but for its checkpoints; where it was moved here, cairn fetch %s brings them",
			pathtext.Place(former), wording.ShellWord(cairn.StorePath(opt.DataDir, former)))
	}
}

// adoptHint is the next step where a root has no checkpoints, and a directory of its name had some.
func (c *Program) adoptHint(err error) string {
	opt := c.LastOptions
	if opt == nil || !errors.Is(err, cairn.ErrNotFound) {
		return ""
	}
	root, err := realpath.Of(opt.Root)
	if err != nil || Exists(cairn.StorePath(opt.DataDir, root)) {
		return ""
	}
	former := repair.Namesake(opt.DataDir, root)
	if former == "" {
		return ""
	}
	return fmt.Sprintf("%s is gone, but for its checkpoints; where it was moved here: cairn adopt %s",
		pathtext.Place(former), wording.ShellWord(former))
}

// goneHint is the next step for a root that is gone: its store still has the files. A directory without a store was none.
func (c *Program) goneHint(err error) string {
	var gone *fs.PathError
	data, failed := c.DataDir(c.Dir)
	if failed != nil || !errors.As(err, &gone) || !Exists(cairn.StorePath(data, gone.Path)) {
		return ""
	}
	return fmt.Sprintf("where it was removed, mkdir it again, and cairn -C %s restore @ brings its files back; where it was moved, cairn adopt",
		wording.ShellWord(gone.Path))
}
