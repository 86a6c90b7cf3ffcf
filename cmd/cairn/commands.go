package main

import (
	"io"
	"slices"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/agents"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/back"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/copies"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/look"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/record"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/remotes"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/store"
)

// newProgram returns one run of the program with all commands.
func newProgram(stdin io.Reader, stdout, stderr io.Writer, env func(string) string, dir string) *cli.Program {
	c := cli.New(stdin, stdout, stderr, env, dir)
	c.Commands = commands
	return c
}

// commands lists the commands of all packages.
func commands(c *cli.Program) []cli.Maker {
	return slices.Concat(
		record.Commands(c), look.Commands(c), back.Commands(c), copies.Commands(c), remotes.Commands(c),
		store.Commands(c), agents.Commands(c), cli.Commands(c),
	)
}
