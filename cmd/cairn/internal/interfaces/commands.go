package interfaces

import "github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"

// commands are the commands of one run of the program.
type commands struct{ *cli.Program }

// Commands lists the commands of this package by name.
func Commands(p *cli.Program) []cli.Maker {
	c := &commands{Program: p}
	return []cli.Maker{
		{Name: "mcp", Make: c.mcpCommand},
		{Name: "serve", Make: c.serveCommand},
		{Name: "review", Make: c.reviewCommand},
	}
}
