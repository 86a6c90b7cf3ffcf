package agents

import (
	"context"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/setup"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const setupManual = `cairn setup connects a coding agent with cairn.

Usage:
    cairn setup AGENT [--project] [--serve [--idle TIME]] [--remove]
                [--dry-run]

AGENT is claude-code, codex, gemini, qwen, opencode, pi, kilo, copilot, droid,
cline, cursor, goose, crush or amp. From then on every turn of it is recorded,
and "cairn undo", typed as a prompt, takes the last one back (see: cairn help
hook). The answer names what to restart, review or trust, and what the agent
cannot do.

It adds hooks to the agent's settings, or a file of its own where the agent
reads one: a plugin (opencode, kilo), an extension (pi), scripts (cline). There
are slash commands where the agent has them. Amp has no hooks: it gets cairn's
tools (see: cairn help mcp). Comments, order, indentation and the entries of
others stay as they are, and what a settings file was before is kept beside it,
with .before-cairn at the end of its name. Where everything is set up nothing is
done. After cairn has moved, running it again brings the paths up to date. When
cairn lies in a cache, as that of npx, the hooks name a copy of it, bin/cairn in
the data directory, which setup brings up to date.

Options:
    --project     for this project only, whose root is the git work tree around
                  the current directory, not for all projects of the user
    --remove      take out again what setup has added; a settings file without
                  later changes becomes what it was, byte by byte
    --dry-run     only show what would be changed, as a diff
    --serve       let a server run for the hooks of all agents: they wait less.
                  A hook that finds none starts one, which ends by itself, and
                  a newer cairn replaces it. There is also a unit of systemd, or
                  a job of launchd, that starts one at login. With --remove both
                  are taken out, and the server ends. Not on Windows
    --idle TIME   end the server when no request has come for this long; without
                  it the time that was chosen before counts, or 30m

With --data-dir the hooks get this option, too. With --json the answer is an
array of {"path", "action"}: create, edit or remove.

Environment:
    CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME, QWEN_HOME,
    OPENCODE_CONFIG_DIR, PI_CODING_AGENT_DIR, KILO_CONFIG_DIR, COPILOT_HOME,
    FACTORY_HOME_OVERRIDE, CLINE_DIR, CRUSH_GLOBAL_CONFIG, XDG_CONFIG_HOME
                         where the agents keep their configuration, if not below
                         the home directory; as the agents themselves read them

Examples:
    cairn setup claude-code
    cairn setup codex --project --dry-run
    cairn setup gemini --remove
`

type setupFlags struct {
	project, remove, dryRun, serve bool
	idle                           time.Duration
	idleGiven                      bool // --idle is on the command line
}

func (c *commands) setupCommand() *cobra.Command {
	var f setupFlags
	cmd := c.Command(cli.Command{
		Use: "setup AGENT", Short: "connect a coding agent with cairn", Manual: setupManual,
		Args:     cli.ArgCount(1, 1, "the name of an agent: "+strings.Join(known.Names(), ", ")),
		Complete: cobra.FixedCompletions(known.Names(), cobra.ShellCompDirectiveNoFileComp),
		Run: func(_ context.Context, cmd *cobra.Command, args []string) error {
			if f.idleGiven = cmd.Flags().Changed("idle"); f.idleGiven && !f.serve {
				return c.Usage("has a use for --idle only with --serve")
			}
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

func (c *commands) setUp(agent string, f *setupFlags) error {
	if _, found := known.Find(agent); !found {
		return c.Usage("does not know %s: there are %s", agent, strings.Join(known.Names(), ", "))
	}
	opt := setup.Options{Places: c.agentPlaces(), Remove: f.remove}
	var err error
	if opt.Program, err = c.program(f); err != nil {
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
	if f.dryRun && !c.Global.JSON {
		err = plan.Diff(c.Out)
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
func (c *commands) projectDir() (string, error) {
	dir, err := c.WorkDir()
	if err != nil {
		return "", err
	}
	if c.Global.Root != "" {
		return c.RootDir(dir)
	}
	return cairn.FindRoot(dir) // agents do not look for stores
}

type setupChange struct {
	Path   string `json:"path"`
	Action string `json:"action"`
}

func (c *commands) reportSetup(plan *setup.Plan, f *setupFlags) error {
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
	if c.Global.JSON {
		return c.WriteJSON(changes)
	}
	done := map[string]string{"edit": "edited", "create": "created", "remove": "removed"}
	if !f.dryRun {
		for _, change := range changes {
			c.Out.WriteString(done[change.Action] + " " + wording.Printable(change.Path) + "\n")
		}
	}
	if err := c.Out.Flush(); err != nil {
		return err
	}
	switch {
	case len(changes) == 0:
		c.Console.Remark("nothing to do")
		return nil
	case f.dryRun:
		c.Console.Remark("nothing is changed yet")
		return nil
	}
	for _, note := range plan.Notes {
		c.Console.Remark("next: %s", note)
	}
	return nil
}

// agentPlaces lists the configuration directories of the agents.
func (c *commands) agentPlaces() setup.Places {
	return setup.PlacesOn(known.System{OS: runtime.GOOS, Home: c.Home(), Env: c.Env})
}
