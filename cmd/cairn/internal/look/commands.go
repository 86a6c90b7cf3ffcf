package look

import "github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"

// commands are the commands of one run of the program.
type commands struct{ *cli.Program }

// Commands lists the commands of this package by name.
func Commands(p *cli.Program) []cli.Maker {
	c := &commands{Program: p}
	return []cli.Maker{
		{Name: "status", Make: c.statusCommand},
		{Name: "patch", Make: c.patchCommand},
		{Name: "diff", Make: c.diffCommand},
		{Name: "log", Make: c.logCommand},
		{Name: "operations", Make: c.operationsCommand},
		{Name: "test", Make: c.testCommand},
		{Name: "bisect", Make: c.bisectCommand},
		{Name: "ls", Make: c.lsCommand},
		{Name: "cat", Make: c.catCommand},
		{Name: "exists", Make: c.existsCommand},
		{Name: "blame", Make: c.blameCommand},
		{Name: "show", Make: c.showCommand},
		{Name: "grep", Make: c.grepCommand},
	}
}
