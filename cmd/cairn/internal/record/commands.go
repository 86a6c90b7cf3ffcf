package record

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
		{Name: "track", Make: c.trackCommand},
		{Name: "wait", Make: c.waitCommand},
		{Name: "session", Make: c.sessionCommand},
		{Name: "pin", Make: c.pinCommand},
		{Name: "unpin", Make: c.unpinCommand},
		{Name: "commit", Make: c.commitCommand},
	}
}
