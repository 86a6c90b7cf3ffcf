package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
)

const unpinManual = `cairn unpin takes a name away that cairn pin gave.

Usage:
    cairn unpin NAME

The checkpoint stays, until it is cleaned away with the others of its age.
`

func (c *cli) unpinCommand() *cobra.Command {
	return c.command(command{
		use: "unpin NAME", short: "take a name away", manual: unpinManual,
		args: takes(1, 1, "a NAME"), complete: c.firstOnly(c.completePins),
		run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			return c.withRepo(func(repo *cairn.Repo) error { return repo.Unpin(ctx, args[0]) })
		},
	})
}

func (c *cli) completePins(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	repo, err := c.openForCompletion()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer repo.Close()
	return offerPins(cmd.Context(), repo, typed), cobra.ShellCompDirectiveNoFileComp
}

func offerPins(ctx context.Context, repo *cairn.Repo, typed string) []cobra.Completion {
	pins, err := repo.Pins(ctx)
	if err != nil {
		return nil
	}
	var offers []cobra.Completion
	for _, p := range pins {
		if strings.HasPrefix(p.Name, typed) {
			offers = append(offers, cobra.CompletionWithDesc(p.Name, "checkpoint "+p.Checkpoint[:shortID]))
		}
	}
	return offers
}
