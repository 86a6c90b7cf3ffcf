package agents

import "github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"

// commands are the commands of one run of the program.
type commands struct{ *cli.Program }

// Commands lists the commands of this package by name.
func Commands(p *cli.Program) []cli.Maker {
	c := &commands{Program: p}
	return append(Everyday(p), []cli.Maker{
		{Name: "setup", Make: c.setupCommand},
		{Name: "run", Make: c.runCommand},
		{Name: "acp", Make: c.acpCommand},
		{Name: "doctor", Make: c.doctorCommand},
		{Name: "config", Make: c.configCommand},
	}...)
}

// Everyday lists those that a lean cairn has.
func Everyday(p *cli.Program) []cli.Maker {
	c := &commands{Program: p}
	return []cli.Maker{{Name: "hook", Make: c.hookCommand}}
}
