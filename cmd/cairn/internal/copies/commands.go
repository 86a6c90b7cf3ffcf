package copies

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
		{Name: "checkout", Make: c.checkoutCommand},
		{Name: "fork", Make: c.forkCommand},
		{Name: "forks", Make: c.forksCommand},
		{Name: "best", Make: c.bestCommand},
		{Name: "merge", Make: c.mergeCommand},
		{Name: "compare", Make: c.compareCommand},
	}
}
