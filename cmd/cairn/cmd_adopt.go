package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
)

const adoptManual = `cairn adopt gives a project that was moved its old store back.

Usage:
    cairn adopt OLD-DIR

OLD-DIR is where the root was before, and must not be there any more; cairn du
lists such directories as gone. Its checkpoints then are those of the root here.
Where the root has checkpoints of its own by now, that is refused: cairn fetch
brings the old ones, and says so.
`

func (c *cli) adoptCommand() *cobra.Command {
	return c.command(command{
		use: "adopt OLD-DIR", short: "take over the store of a moved project", manual: adoptManual,
		args: argCount(1, 1, "the directory where the project was"), complete: completeFiles,
		run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			old, err := c.paths(args)
			if err != nil {
				return err
			}
			opt, err := c.options()
			if err != nil {
				return err
			}
			if err := cairn.Adopt(ctx, opt.DataDir, old[0], opt.Root); err != nil {
				return err
			}
			c.console.Remark("the store of %s is now that of %s", placeText(old[0]), placeText(opt.Root))
			return nil
		},
	})
}
