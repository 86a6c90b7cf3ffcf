package agents

import (
	"context"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/client"
	"github.com/seed-fb9cbc17/cairn/internal/config"
	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/hooks"
	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/internal/lastdone"
	"github.com/seed-fb9cbc17/cairn/internal/recorder"
	"github.com/seed-fb9cbc17/cairn/internal/service"
	"github.com/seed-fb9cbc17/cairn/internal/setup"
	"github.com/seed-fb9cbc17/cairn/session"
)

const hookManual = `cairn hook carries out one call of a hook of a coding agent.

Usage:
    cairn hook AGENT

Agents run it themselves; cairn setup makes the entries for that. It reads what
the agent has to say, a JSON document, from stdin, and records sessions, turns
and steps of the project that the agent works in. AGENT is claude-code, codex,
gemini, qwen, copilot, droid, cline, cursor, goose or crush. Any other name,
such as opencode, kilo or pi, stands for an adapter that speaks the neutral
protocol: one event in, one line of JSON out, described in
internal/hooks/doc.go.

The exit status is always 0, and there is no output but what the agent's
protocol wants: an agent is never stopped because cairn has failed. Failures go
to hooks.log beside the stores, and cairn doctor tells of them. A call takes 20
seconds at most, 2.5 where the agent is about to end, and for a command that is
typed nearly as long as the agent waits for it: 10 minutes, as cairn setup
writes it into the agent's settings.

These prompts begin no turn of the model, but are carried out at once, in the
session in which they are typed. Where an agent does not let a hook answer a
prompt (Cline in a terminal, Goose, Crush), they are for a shell:
    cairn undo      take back the last turn of the session, or an operation of
                    its time that is newer, as in a shell; cairn undo --dry-run
                    only lists it
    cairn undo N    take back what the last N turns changed, whatever made the
                    change; what was changed since stays
    cairn redo [N]  bring it back
    cairn log       list the turns that changed files
    cairn diff [N]  list what the last turn, or the Nth last, changed
    cairn status    tell what undo and redo would do, and what is missing
    cairn help      list these commands
Another word after "cairn" that looks like a command is answered with the
nearest one, and nothing is done. A sentence is for the model.

While a tool runs, undo and redo are refused: press Esc first.

Environment:
    CAIRN_HOOK_DEADLINE  how long a call may take, as in 5s
    CAIRN_ACP            set by cairn acp: calls are answered, and not recorded
    CAIRN_RUN            set by cairn run: the hooks record in its place
`

func (c *commands) hookCommand() *cobra.Command {
	return c.Command(cli.Command{
		Use: "hook AGENT", Short: "carry out a call of a coding agent's hook", Manual: hookManual,
		Args:     cli.ArgCount(1, 1, "the name of the agent"),
		Complete: cobra.FixedCompletions(known.Hooked(), cobra.ShellCompDirectiveNoFileComp),
		Run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			// A crash in a goroutine of the library would end the process with status 2,
			// which agents take for an order to stop. This way it is a signal.
			debug.SetTraceback("crash")
			dir, err := c.hooksDir()
			if err != nil {
				return err
			}
			c.handleHook(ctx, args[0], dir)
			return nil
		},
	})
}

// HandleHook carries out the call of a hook whose payload is on stdin. dir is that of HooksDir.
func HandleHook(ctx context.Context, p *cli.Program, agent, dir string) {
	(&commands{Program: p}).handleHook(ctx, agent, dir)
}

// HooksDir is the directory of the hooks' log and state.
func HooksDir(p *cli.Program) (string, error) { return (&commands{Program: p}).hooksDir() }

func (c *commands) handleHook(ctx context.Context, agent, dir string) {
	hooks.Handle(ctx, agent, c.Stdin, c.Out, hooks.Options{
		Dir: dir, Project: c.agentProject(agent), Deadline: c.hookDeadline(), Open: c.openProject,
		TurnEnded: func(session bool) { c.TurnEnded, c.SessionOver = true, session }, Line: c.Ancestors,
		Waits: c.agentWaits(agent), Home: c.Home(), Passive: c.Env(acpVariable) != "", Run: c.Env(recorder.Variable), Over: c.SignLater,
		Settings: c.agentSettings(agent), Private: c.agentDirs(agent), Env: c.Env,
	})
}

// hooksDir is the directory of the hooks' log and state. It is below the user's data
// directory, whatever a project sets, because all projects share one log. An error in
// the configuration is ignored here: opening the project reports it, into this log.
func (c *commands) hooksDir() (string, error) {
	if c.Global.DataDir != "" {
		data, err := c.givenDataDir()
		return filepath.Join(data, "hooks"), err
	}
	cfg, err := config.Load(config.Sources{UserFile: c.UserFile(), Env: c.Env})
	if err == nil && cfg.DataDir != "" {
		return filepath.Join(cfg.DataDir, "hooks"), nil
	}
	if data := c.Env("CAIRN_DATA_DIR"); filepath.IsAbs(data) {
		return filepath.Join(data, "hooks"), nil
	}
	data, err := c.DefaultDataDir()
	return filepath.Join(data, "hooks"), err
}

// givenDataDir is --data-dir as an absolute path, which counts from the directory of -C, "" if it is not given.
func (c *commands) givenDataDir() (string, error) {
	given := c.Global.DataDir
	if given == "" || filepath.IsAbs(given) {
		return given, nil
	}
	dir, err := c.WorkDir()
	return cli.AbsolutePath(dir, given), err
}

// agentProject is the directory that the agent names as its project. Only this agent's
// own variable is read, because agents start each other.
func (c *commands) agentProject(agent string) string {
	found, _ := known.Find(agent)
	if found.Project == "" {
		return ""
	}
	return c.Env(found.Project)
}

// agentDirs lists the directories of an agent's own files.
func (c *commands) agentDirs(agent string) []string {
	places, name := c.agentPlaces(), hooks.Agent(agent)
	return []string{places.Dirs[name], places.Data[name]}
}

// agentSettings lists the files of an agent's settings that can name directories of a project: those of the
// user, of the project, and of the user for the project.
func (c *commands) agentSettings(agent string) func(project string) []string {
	return func(project string) []string {
		found, _ := known.Find(agent)
		if found.Local == "" {
			return nil
		}
		local := filepath.Join(project, filepath.FromSlash(found.Local))
		files := []string{filepath.Join(local, "settings.json"), filepath.Join(local, "settings.local.json")}
		if dir := c.agentPlaces().Dirs[found.Name]; dir != "" {
			files = append([]string{filepath.Join(dir, "settings.json")}, files...)
		}
		return files
	}
}

// agentWaits reads from an agent's settings how long it waits for the answer to a prompt.
// A deadline in the environment replaces it.
func (c *commands) agentWaits(agent string) func() time.Duration {
	if c.hookDeadline() > 0 {
		return nil
	}
	return func() time.Duration {
		places := []setup.Places{c.agentPlaces()}
		if root := c.agentProject(agent); root != "" {
			local := c.agentPlaces()
			local.Project = root
			places = append(places, local)
		}
		return setup.Waits(hooks.Agent(agent), places...)
	}
}

func (c *commands) hookDeadline() time.Duration {
	d, err := time.ParseDuration(c.Env("CAIRN_HOOK_DEADLINE"))
	if err != nil || d <= 0 {
		return 0
	}
	return d
}

// openProject finds the root around the directory of an agent. A running server records
// the steps; without one the store is opened.
func (c *commands) openProject(_ context.Context, dir string) (*hooks.Project, error) {
	data, err := c.givenDataDir() // before the directory is the agent's
	if err != nil {
		return nil, err
	}
	c.Global.Directory, c.Global.DataDir, c.Console.Quiet = dir, data, true
	opt, err := c.Options()
	if err != nil {
		return nil, err
	}
	c.wakeServer(opt.DataDir)
	var repo *cairn.Repo
	open := func() (*session.Sessions, error) {
		if repo == nil {
			var err error
			if repo, err = cairn.Open(opt); err != nil {
				return nil, err
			}
		}
		return session.New(repo), nil
	}
	closed := func() error {
		if repo == nil {
			return nil
		}
		c.NoteDue(repo)
		return repo.Close()
	}
	finder := func() (*lastdone.Finder, error) {
		c.Catch() // an operation changes the directory
		sessions, err := open()
		return &lastdone.Finder{Repo: repo, Sessions: sessions}, err
	}
	gaps := func(ctx context.Context) []string {
		if _, err := open(); err != nil {
			return nil // the session has reported it
		}
		return answers.Gaps(ctx, repo)
	}
	leavesOut := func(ctx context.Context, dir string) (bool, error) {
		if _, err := open(); err != nil {
			return false, err
		}
		return access.Lines(repo).LeavesOut(ctx, dir)
	}
	sessions := catching(c.sessionsOf(opt, open), c.Catch)
	return &hooks.Project{
		Root: opt.Root, Git: git.Named{Dir: opt.GitDir, WorkTree: opt.GitWorkTree}, Above: c.RootAbove, Broken: c.brokenSettings(), NoTexts: opt.NoPrompts, NoMask: opt.NoMask,
		Sessions: sessions, Overlap: c.overlap(opt), Finder: finder, Gaps: gaps, Close: closed,
		RootOf: func(dir string) (string, error) { return cairn.FindRootIn(dir, opt.DataDir) }, LeavesOut: leavesOut,
	}, nil
}

// sessionsOf returns the sessions of a root, by a server if one runs.
func (c *commands) sessionsOf(opt cairn.Options, local func() (*session.Sessions, error)) service.Sessions {
	if c.Near != nil {
		return c.Near(opt, local)
	}
	return client.NewSessions(c.Server(opt), local)
}

// brokenSettings describes the error in the project's own file. It returns nil for a sound one.
func (c *commands) brokenSettings() *hooks.Broken {
	broken := c.Config.Broken()
	if broken == nil {
		return nil
	}
	return &hooks.Broken{Text: cli.BrokenText(broken), Sum: broken.Sum}
}

// catching catches signals before a call that changes the directory.
func catching(sessions service.Sessions, catch func()) service.Sessions {
	return service.Through(func(ctx context.Context, r service.Request, next service.Next) (any, error) {
		if r.ChangesFiles() {
			catch()
		}
		return next(ctx, sessions)
	})
}
