package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/repair"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// takeAlong looks for the checkpoints of a root that has none at its path. The store of a renamed root comes
// along here, before a server is asked, so that the user hears of it. The command reports errors: it opens the
// store, too.
func (c *Program) takeAlong(opt cairn.Options) {
	if c.tookAlong == opt.Root || c.Running == "adopt" || Exists(cairn.StorePath(opt.DataDir, opt.Root)) {
		return
	}
	c.tookAlong = opt.Root
	makes := !opt.MustExist && !slices.Contains(takesOver, c.Running)
	opt.MustExist = true
	repo, err := cairn.Open(opt)
	if err == nil {
		if former := repo.Adopted(); former != "" {
			c.Console.Remark("this directory was %s before; its checkpoints came along", pathtext.Place(former))
		}
		_ = repo.Close() // nothing was written
		return
	}
	if former := namesake(opt); former != "" && makes && errors.Is(err, cairn.ErrNotFound) {
		c.Console.Remark("%s is gone, but for its checkpoints; where it was moved here, cairn fetch %s brings them",
			pathtext.Place(former), wording.ShellWord(cairn.StorePath(opt.DataDir, former)))
	}
}

// adoptHint is the next step where a root has no checkpoints, and a directory of its name had some.
func (c *Program) adoptHint(err error) string {
	opt := c.LastOptions
	if opt == nil || !errors.Is(err, cairn.ErrNotFound) || Exists(cairn.StorePath(opt.DataDir, opt.Root)) {
		return ""
	}
	former := namesake(*opt)
	if former == "" {
		return ""
	}
	return fmt.Sprintf("%s is gone, but for its checkpoints; where it was moved here: cairn adopt %s",
		pathtext.Place(former), wording.ShellWord(former))
}

// namesake returns a root that is gone and has the name of this one, "" for none; where there are several, the one
// that was used last. A root that was moved to another file system has another inode, and most often the same name.
func namesake(opt cairn.Options) string {
	gone := repair.Gone(opt.DataDir)
	for _, former := range slices.Backward(gone) {
		if filepath.Base(former) == filepath.Base(opt.Root) {
			return former
		}
	}
	return ""
}
