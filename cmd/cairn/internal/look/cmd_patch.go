package look

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/client"
)

const patchManual = `cairn patch lists the files that differ from a checkpoint, as absolute paths.

Usage:
    cairn patch HASH [TO] [-z]

Without TO the checkpoint is compared with the disk as it is now. A rename is a
deletion and an addition, so both names are listed. What one side left out
although it was there does not count as changed.

Options:
    -z, --null  raw paths with a NUL after each, for xargs -0

With --json the answer is {"hash", "files"}, which cairn revert --patches reads:
it takes back what was changed in these files since. The hash is the full one,
also where HASH was @ or a prefix.

Examples:
    cairn patch @
    cairn patch --json @~1 @ > step.json; cairn revert --patches step.json
`

func (c *commands) patchCommand() *cobra.Command {
	var null bool
	cmd := c.Command(cli.Command{
		Use: "patch HASH [TO]", Short: "list the files that changed", Manual: patchManual,
		Args: cli.ArgCount(1, 2, "a HASH and perhaps a second one"), Complete: c.CompleteHashes(2),
		Run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			if null && c.Global.JSON {
				return c.Usage("gives either -z or --json")
			}
			return c.WithRepo(func(repo *cairn.Repo) error {
				patch, err := c.patchOf(ctx, repo, args)
				if err != nil {
					return err
				}
				return c.printPatch(patch, null)
			})
		},
	})
	cmd.Flags().BoolVarP(&null, "null", "z", false, "raw paths with a NUL after each")
	return cmd
}

// patchOf writes the full id of the checkpoint, because the meaning of @ or a prefix
// changes with time. The id is the tree's, as in track, unless a newer checkpoint has
// the same tree with other permission bits.
func (c *commands) patchOf(ctx context.Context, repo *cairn.Repo, args []string) (cairn.Patch, error) {
	from, err := repo.Lookup(ctx, args[0])
	if err != nil {
		return cairn.Patch{}, err
	}
	to := ""
	if len(args) > 1 {
		if to = args[1]; to == "" {
			_, err = repo.Lookup(ctx, to)
			return cairn.Patch{}, err
		}
	}
	patch, err := c.patch(ctx, repo, from.ID, to)
	if err != nil {
		return cairn.Patch{}, err
	}
	byTree, err := repo.Lookup(ctx, from.Hash)
	switch {
	case err != nil && !errors.Is(err, cairn.ErrNotFound):
		return cairn.Patch{}, err
	case err == nil && byTree.ID == from.ID:
		patch.Hash = from.Hash
	}
	return patch, nil
}

func (c *commands) printPatch(patch cairn.Patch, null bool) error {
	if c.Global.JSON {
		return c.WriteJSON(patch)
	}
	for _, path := range patch.Files {
		if err := c.WritePath(path, null); err != nil {
			return err
		}
	}
	return nil
}

// patch lists what differs between a checkpoint and another one, or the disk if to is "".
func (c *commands) patch(ctx context.Context, repo *cairn.Repo, from, to string) (cairn.Patch, error) {
	if to != "" {
		return repo.Patch(ctx, from, to)
	}
	return cli.ByServer(c.Program, func(s *client.Client) (cairn.Patch, error) { return s.Patch(ctx, from) },
		func() (cairn.Patch, error) { return repo.Patch(ctx, from, "") })
}
