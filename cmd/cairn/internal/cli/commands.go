package cli

// Commands lists the commands of this package, which are about the program itself.
func Commands(c *Program) []Maker {
	return []Maker{
		{Name: "completion", Make: c.completionCommand},
		{Name: "version", Make: c.versionCommand},
		{Name: "help", Make: c.helpCommand},
	}
}
