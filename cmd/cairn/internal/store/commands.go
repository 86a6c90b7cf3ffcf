package store

import "github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"

// commands are the commands of one run of the program.
type commands struct{ *cli.Program }

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
