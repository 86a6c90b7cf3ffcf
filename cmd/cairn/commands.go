package main

import (
	"slices"
	"time"

	"github.com/spf13/cobra"
)

// makers lists the commands by name. Most runs need one of them, and making all of
// them takes as long as some commands do.
func (c *cli) makers() []maker {
	return []maker{
		{"track", c.trackCommand}, {"wait", c.waitCommand}, {"status", c.statusCommand}, {"patch", c.patchCommand}, {"diff", c.diffCommand},
		{"restore", c.restoreCommand}, {"revert", c.revertCommand}, {"undo", c.undoCommand}, {"redo", c.redoCommand},
		{"log", c.logCommand}, {"operations", c.operationsCommand}, {"session", c.sessionCommand},
		{"pin", c.pinCommand}, {"unpin", c.unpinCommand},
		{"ls", c.lsCommand}, {"cat", c.catCommand}, {"exists", c.existsCommand},
		{"export", c.exportCommand}, {"import", c.importCommand}, {"push", c.pushCommand}, {"fetch", c.fetchCommand},
		{"setup", c.setupCommand}, {"hook", c.hookCommand}, {"run", c.runCommand}, {"mcp", c.mcpCommand}, {"serve", c.serveCommand},
		{"gc", c.gcCommand}, {"du", c.duCommand}, {"doctor", c.doctorCommand}, {"purge", c.purgeCommand},
		{"adopt", c.adoptCommand}, {"config", c.configCommand},
		{"completion", c.completionCommand}, {"version", c.versionCommand}, {"help", c.helpCommand},
	}
}

type maker struct {
	name string
	make func() *cobra.Command
}

// wantAll lists the commands that need to know the others.
var wantAll = []string{"cairn", "help", "completion"}

// addCommands adds those commands to the root that a command line may mean: the one
// it names is among its words. If that is none, or one that is about the others, all
// are added.
func (c *cli) addCommands(args []string) {
	added := make(map[string]bool)
	add := func(wanted func(name string) bool) {
		for _, m := range c.makers() {
			if !added[m.name] && wanted(m.name) {
				added[m.name] = true
				c.root.AddCommand(m.make())
			}
		}
	}
	// The parser would make a help command of its own.
	add(func(name string) bool { return name == "help" || slices.Contains(args, name) })
	if cmd, _, _ := c.root.Find(args); slices.Contains(wantAll, cmd.Name()) {
		add(func(string) bool { return true })
	}
}

// atOnce lists the commands that begin before signals are caught: they change nothing in
// the directory. Most of them are over within uncaught; until then a signal ends them
// without a word, as one does that comes before main.
var atOnce = []string{"track", "hook", "status", "patch", "diff", "version"}

const uncaught = 20 * time.Millisecond

// catchSignals comes before a command does anything.
func (c *cli) catchSignals() {
	if slices.Contains(atOnce, c.running) {
		time.AfterFunc(uncaught, c.catch)
	} else {
		c.catch()
	}
}
