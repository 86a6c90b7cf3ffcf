package store

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

const adoptManual = `cairn adopt gives a project that was moved its old store back, or an id.

Usage:
    cairn adopt OLD-DIR
    cairn adopt --id ID

A directory that was renamed needs none of this: its checkpoints come along by
themselves. adopt is for one that was moved to another disk, copied, unpacked or
cloned again.

OLD-DIR is where the root was before, and must not be there any more; cairn du
lists such directories as gone. Its checkpoints then are those of the root here.
Where the root has checkpoints of its own by now, that is refused: cairn fetch
brings the old ones, and says so. A sealed store is opened first: cairn --root
OLD-DIR unseal, or by itself with the setting seal.

With --id the project is known by ID to cairn push and cairn fetch, on every
machine where it was given the same one, instead of by the first commit of its
git repository or by its path. That is for shallow clones, for directories
without git, and for projects that share a history and are not the same. An
empty ID takes it back.

Options:
    --id ID  up to 64 of a-z, 0-9, '-', '_' and '.'

There is no --json form.
`

func (c *commands) adoptCommand() *cobra.Command {
	var id string
	cmd := c.Command(cli.Command{
		Use: "adopt [--id ID | OLD-DIR]", Short: "take over the store of a moved project, or name a project", Manual: adoptManual,
		Args: cli.ArgCount(0, 1, "the directory where the project was"), Complete: cli.CompleteFiles,
		Run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			switch named := cmd.Flags().Changed("id"); {
			case c.Global.JSON:
				return c.Usage("has no --json form: it prints nothing but remarks")
			case named == (len(args) > 0):
				return c.Usage("wants the directory where the project was, or --id")
			case named:
				return c.nameProject(ctx, id)
			}
			old, err := c.Paths(args)
			if err != nil {
				return err
			}
			opt, err := c.Options()
			if err != nil {
				return err
			}
			if err := c.adopt(ctx, opt, old[0]); err != nil {
				return err
			}
			c.Console.Remark("the store of %s is now that of %s", pathtext.Place(old[0]), pathtext.Place(opt.Root))
			return nil
		},
	})
	cmd.Flags().StringVar(&id, "id", "", "what push and fetch know the project by")
	return cmd
}

// adopt moves the store of a former root. Where the settings open sealed stores, it opens a sealed one.
func (c *commands) adopt(ctx context.Context, opt cairn.Options, old string) error {
	err := cairn.Adopt(ctx, opt.DataDir, old, opt.Root)
	if !errors.Is(err, cairn.ErrSealed) || !opt.Unseal {
		return err
	}
	from := opt
	from.Root = old
	if _, err := cairn.Unseal(ctx, from, cairn.SealOptions{}); err != nil && !errors.Is(err, cairn.ErrNotSealed) {
		return err
	}
	if err = cairn.Adopt(ctx, opt.DataDir, old, opt.Root); err == nil {
		c.SealAgain(opt.Root)
	}
	return err
}

// nameProject gives the project an id, also where it has no checkpoint yet.
func (c *commands) nameProject(ctx context.Context, id string) error {
	opt, err := c.Options()
	if err != nil {
		return err
	}
	opt.MustExist = false
	repo, err := cairn.Open(opt)
	if err != nil {
		return err
	}
	defer repo.Close()
	if err := repo.SetProjectID(ctx, id); err != nil {
		return err
	}
	if id == "" {
		c.Console.Remark("%s has no id any more", pathtext.Place(repo.Root()))
	} else {
		c.Console.Remark("push and fetch know %s as %s now", pathtext.Place(repo.Root()), id)
	}
	return nil
}
