package look

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
)

const existsManual = `cairn exists tells by its exit status whether a path was there at a checkpoint.

Usage:
    cairn exists HASH PATH

The status is 0 if the checkpoint has the path, be it a file, a symlink or a
directory with something captured in it, and 4 if it does not. Nothing is
printed. A HASH that does not exist is 4, too, with a word on stderr.

With --json the answer is {"exists": true} or {"exists": false}.

Example:
    cairn exists @ go.sum || echo 'go.sum is new'
`

func (c *commands) existsCommand() *cobra.Command {
	return c.Command(cli.Command{
		Use: "exists HASH PATH", Short: "tell whether a checkpoint has a path", Manual: existsManual,
		Args: cli.ArgCount(2, 2, "a HASH and a PATH"), Complete: c.CompleteHashThenTree,
		Run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			paths, err := c.Paths(args[1:])
			if err != nil {
				return err
			}
			return c.WithRepo(func(repo *cairn.Repo) error {
				there, err := repo.Exists(ctx, args[0], paths[0])
				if err != nil {
					return err
				}
				return c.printExists(there)
			})
		},
	})
}

func (c *commands) printExists(there bool) error {
	if c.Global.JSON {
		answer := struct {
			Exists bool `json:"exists"`
		}{there}
		if err := c.WriteJSON(answer); err != nil {
			return err
		}
	}
	if !there {
		return cli.ErrAbsent
	}
	return nil
}
