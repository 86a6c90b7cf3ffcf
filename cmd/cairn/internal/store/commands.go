package store

import (
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/trial"
)

// commands are the commands of one run of the program.
type commands struct{ *cli.Program }

// sweepCopies removes the copies that a killed cairn bisect has left: what a store no longer shows is readable there.
func (c *commands) sweepCopies() {
	if opt, err := c.Options(); err == nil {
		trial.Sweep(opt.DataDir)
	}
}

// Commands lists the commands of this package by name.
func Commands(p *cli.Program) []cli.Maker {
	c := &commands{Program: p}
	return []cli.Maker{
		{Name: "gc", Make: c.gcCommand},
		{Name: "du", Make: c.duCommand},
		{Name: "purge", Make: c.purgeCommand},
		{Name: "adopt", Make: c.adoptCommand},
		{Name: "seal", Make: c.sealCommand},
		{Name: "unseal", Make: c.unsealCommand},
	}
}
