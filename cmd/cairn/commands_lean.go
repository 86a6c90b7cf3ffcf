//go:build lean

package main

import (
	"slices"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/agents"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/back"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/look"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/record"
)

// commands lists the commands that agents call at every step and people many times a day. All others are carried
// out by cairn-full: see package program.
func commands(c *cli.Program) []cli.Maker {
	return slices.Concat(record.Commands(c), look.Commands(c), back.Commands(c), agents.Everyday(c), cli.Everyday(c))
}
