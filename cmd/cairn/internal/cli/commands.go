package cli

// Commands lists the commands of this package, which are about the program itself.
func Commands(c *Program) []Maker {
	return append(Everyday(c), Maker{Name: "completion", Make: c.completionCommand}, Maker{Name: "help", Make: c.helpCommand})
}

// Everyday lists those that a lean cairn has.
func Everyday(c *Program) []Maker { return []Maker{{Name: "version", Make: c.versionCommand}} }
