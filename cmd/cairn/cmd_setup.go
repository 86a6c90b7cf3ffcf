package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/setup"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const setupManual = `cairn setup connects a coding agent with cairn.

Usage:
    cairn setup AGENT [--project] [--serve [--idle DURATION]] [--remove]
                [--dry-run]

AGENT is claude-code, codex, gemini, qwen, opencode or pi. From then on every
turn of it is recorded, and "cairn undo", typed as a prompt, takes the last one
back (see: cairn help hook). What there is to restart, review or trust is said.

For the first four it adds hooks to the agent's settings, and slash commands
where the agent has them; OpenCode gets a plugin and pi an extension. Comments,
order, indentation and the entries of others stay as they are, and what a
settings file was before is kept beside it, with .before-cairn at the end of its
name. Where everything is set up nothing is done. After cairn has moved, running
it again brings the paths up to date.

Options:
    --project     for this project only, whose root is the git work tree around
                  the current directory, not for all projects of the user
    --remove      take out again what setup has added; a settings file that
                  nobody changed in between becomes what it was, byte by byte
    --dry-run     only show what would be changed, as a diff
    --serve       let a server run for the hooks of all agents: they wait less.
                  A hook that finds none starts one, which ends by itself, and
                  a newer cairn replaces it. There is also a unit of systemd, or
                  a job of launchd, that starts one at login. With --remove both
                  are taken out, and the server ends. Not on Windows
    --idle TIME   after which the server ends if nobody asks it; 30m

With --data-dir the hooks get this option, too. With --json the answer is an
array of {"path", "action"}: create, edit or remove.

Environment:
    CLAUDE_CONFIG_DIR, CODEX_HOME, QWEN_HOME, OPENCODE_CONFIG_DIR,
    PI_CODING_AGENT_DIR  where the agents keep their configuration, if not in
                         ~/.claude, ~/.codex, ~/.qwen, ~/.config/opencode and
                         ~/.pi/agent; that of Gemini CLI is ~/.gemini

Examples:
    cairn setup claude-code
    cairn setup codex --project --dry-run
    cairn setup gemini --remove
`

type setupFlags struct {
	project, remove, dryRun, serve bool
	idle                           time.Duration
}

func (c *cli) setupCommand() *cobra.Command {
	var f setupFlags
	cmd := c.command(command{
		use: "setup AGENT", short: "connect a coding agent with cairn", manual: setupManual,
		args:     argCount(1, 1, "the name of an agent: "+strings.Join(setup.Agents(), ", ")),
		complete: cobra.FixedCompletions(setup.Agents(), cobra.ShellCompDirectiveNoFileComp),
		run: func(_ context.Context, _ *cobra.Command, args []string) error {
			return c.setUp(args[0], &f)
		},
	})
	cmd.Flags().BoolVar(&f.project, "project", false, "for this project only")
	cmd.Flags().BoolVar(&f.remove, "remove", false, "take it out again")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "only show the changes")
	cmd.Flags().BoolVar(&f.serve, "serve", false, "let a server run for the hooks")
	cmd.Flags().DurationVar(&f.idle, "idle", protocol.DefaultIdle, "when the server ends")
	return cmd
}

func (c *cli) setUp(agent string, f *setupFlags) error {
	if agent != "claude" && !slices.Contains(setup.Agents(), agent) {
		return c.usage("does not know %s: there are %s", agent, strings.Join(setup.Agents(), ", "))
	}
	opt := setup.Options{Places: c.agentPlaces(), Remove: f.remove}
	var err error
	if opt.Program, err = c.program(); err != nil {
		return err
	}
	if f.project {
		if opt.Places.Project, err = c.projectDir(); err != nil {
			return err
		}
	}
	plan, err := setup.New(agent, opt)
	if err != nil {
		return err
	}
	if f.serve {
		server, err := c.serverPlan(opt.Program, f)
		if err != nil {
			return err
		}
		plan.Changes, plan.Notes = append(plan.Changes, server.Changes...), append(plan.Notes, server.Notes...)
	}
	if f.dryRun && !c.global.json {
		err = plan.Diff(c.out)
	} else if !f.dryRun {
		err = plan.Apply()
	}
	if err == nil && f.serve && f.remove && !f.dryRun {
		err = c.endServer()
	}
	if err != nil {
		return err
	}
	return c.reportSetup(plan, f)
}

// projectDir is the root for --project.
func (c *cli) projectDir() (string, error) {
	dir, err := c.workDir()
	if err != nil {
		return "", err
	}
	if c.global.root != "" {
		return c.rootDir(dir)
	}
	return cairn.FindRoot(dir) // agents do not look for stores
}

type setupChange struct {
	Path   string `json:"path"`
	Action string `json:"action"`
}

func (c *cli) reportSetup(plan *setup.Plan, f *setupFlags) error {
	changes := []setupChange{}
	for _, change := range plan.Changes {
		action := "edit"
		if change.Before == nil {
			action = "create"
		} else if change.After == nil {
			action = "remove"
		}
		changes = append(changes, setupChange{change.Path, action})
	}
	if c.global.json {
		return c.writeJSON(changes)
	}
	done := map[string]string{"edit": "edited", "create": "created", "remove": "removed"}
	if !f.dryRun {
		for _, change := range changes {
			c.out.WriteString(done[change.Action] + " " + wording.Printable(change.Path) + "\n")
		}
	}
	if err := c.out.Flush(); err != nil {
		return err
	}
	switch {
	case len(changes) == 0:
		c.console.Remark("nothing to do")
		return nil
	case f.dryRun:
		c.console.Remark("nothing is changed yet")
		return nil
	}
	for _, note := range plan.Notes {
		c.console.Remark("next: %s", note)
	}
	return nil
}

// program is the command by which agents start this cairn.
func (c *cli) program() ([]string, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	program := []string{stablePath(path, c.env("PATH"))}
	if c.global.dataDir == "" {
		return program, nil
	}
	dir, err := c.workDir()
	return append(program, "--data-dir", absolute(dir, c.global.dataDir)), err
}

// stablePath prefers the program's name in PATH. It is often a symlink, which stays the
// same when an update moves the program.
func stablePath(path, search string) string {
	for _, dir := range filepath.SplitList(search) {
		candidate := filepath.Join(dir, filepath.Base(path))
		if real, err := filepath.EvalSymlinks(candidate); err == nil && filepath.IsAbs(candidate) {
			if same, err := filepath.EvalSymlinks(path); err == nil && same == real {
				return candidate
			}
		}
	}
	return path
}

// agentPlaces lists the configuration directories of the agents, "" if not known.
func (c *cli) agentPlaces() setup.Places {
	home := c.home()
	at := func(variable string, fallback ...string) string {
		if dir := c.env(variable); variable != "" && filepath.IsAbs(dir) {
			return dir
		}
		if home == "" {
			return ""
		}
		return filepath.Join(append([]string{home}, fallback...)...)
	}
	config := at("XDG_CONFIG_HOME", ".config")
	p := setup.Places{
		Claude: at("CLAUDE_CONFIG_DIR", ".claude"), Codex: at("CODEX_HOME", ".codex"), Gemini: at("", ".gemini"),
		Qwen: at("QWEN_HOME", ".qwen"), Pi: at("PI_CODING_AGENT_DIR", ".pi", "agent"),
	}
	if p.OpenCode = c.env("OPENCODE_CONFIG_DIR"); !filepath.IsAbs(p.OpenCode) && config != "" {
		p.OpenCode = filepath.Join(config, "opencode")
	}
	return p
}
