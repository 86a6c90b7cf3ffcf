//go:build !lean

package main

import (
	"slices"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/agents"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/back"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/copies"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/interfaces"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/look"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/record"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/remotes"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/store"
)

// commands lists the commands of all packages.
func commands(c *cli.Program) []cli.Maker {
	return slices.Concat(
		record.Commands(c), look.Commands(c), back.Commands(c), copies.Commands(c), remotes.Commands(c),
		store.Commands(c), agents.Commands(c), interfaces.Commands(c), cli.Commands(c),
	)
}
