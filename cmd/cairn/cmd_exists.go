package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
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

func (c *cli) existsCommand() *cobra.Command {
	return c.command(command{
		use: "exists HASH PATH", short: "tell whether a checkpoint has a path", manual: existsManual,
		args: argCount(2, 2, "a HASH and a PATH"), complete: c.completeHashThenTree,
		run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			paths, err := c.paths(args[1:])
			if err != nil {
				return err
			}
			return c.withRepo(func(repo *cairn.Repo) error {
				there, err := repo.Exists(ctx, args[0], paths[0])
				if err != nil {
					return err
				}
				return c.printExists(there)
			})
		},
	})
}

func (c *cli) printExists(there bool) error {
	if c.global.json {
		answer := struct {
			Exists bool `json:"exists"`
		}{there}
		if err := c.writeJSON(answer); err != nil {
			return err
		}
	}
	if !there {
		return errAbsent
	}
	return nil
}
