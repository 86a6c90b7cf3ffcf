package remotes

import (
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/goback"
)

// commands are the commands of one run of the program.
type commands struct{ *goback.Dialog }

// Commands lists the commands of this package by name.
func Commands(p *cli.Program) []cli.Maker {
	c := &commands{Dialog: &goback.Dialog{Program: p}}
	return []cli.Maker{
		{Name: "export", Make: c.exportCommand},
		{Name: "import", Make: c.importCommand},
		{Name: "push", Make: c.pushCommand},
		{Name: "fetch", Make: c.fetchCommand},
		{Name: "resume", Make: c.resumeCommand},
		{Name: "verify", Make: c.verifyCommand},
	}
}
