package cli

import (
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/child"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// ChildStatus is the exit status of the command, and so of the program.
type ChildStatus int

func (s ChildStatus) Error() string { return fmt.Sprintf("the command ended with status %d", int(s)) }

// ChildDir is the directory in which the command starts; "" is the current one.
func (c *Program) ChildDir() (string, error) {
	if c.Global.Directory == "" {
		return "", nil
	}
	return c.WorkDir()
}

// CannotRun says why a command cannot run, and returns the status that shells have for it.
func (c *Program) CannotRun(name string, err error) error {
	status, reason := child.Fault(err)
	c.Console.Complain("cannot run " + wording.ShellWord(name) + ": " + reason)
	return ChildStatus(status)
}

// Warn prints a warning for each fault.
func (c *Program) Warn(faults []string) {
	for _, fault := range faults {
		c.Console.Complain("warning: " + fault)
	}
}
