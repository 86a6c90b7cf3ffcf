package agents

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/acp"
	"github.com/seed-fb9cbc17/cairn/internal/child"
	"github.com/seed-fb9cbc17/cairn/internal/hooks"
	"github.com/seed-fb9cbc17/cairn/internal/process"
)

const acpManual = `cairn acp starts an agent for an editor and records what the agent changes.

Usage:
    cairn acp [--] AGENT [ARGUMENT...]

The agent speaks the Agent Client Protocol on stdin and stdout, as an editor
such as Zed, a JetBrains IDE or a plugin of Neovim starts it. In the editor's
settings cairn acp takes the place of the agent: the command is cairn, and its
arguments are acp, -- and the agent with its own.

Every message is passed on as it came. Each prompt is a turn, each tool that
may write is a step. The agent's slash commands get some more, and these prompts
are answered at once, without the model:
    /cairn-undo [N]  take back what the last turn changed, or the last N
    /cairn-redo [N]  bring it back, until the next prompt for the agent
    /cairn-log       list the turns that changed files
    /cairn-diff [N]  list what the last turn, or the Nth last, changed
    /cairn-status    tell what undo and redo would do now
The same without a slash and with a blank, as in "cairn undo", works, too. After
an undo, also one in a shell, the next prompt tells the agent of it.

A tool whose request the editor has to grant or carry out waits until the state
before it is captured. A tool that the agent runs without asking is recorded
when it has ended, with what else changed since the turn's last checkpoint: what
you edit in that time counts as the agent's.

If a checkpoint fails the agent goes on, and the conversation says so once.
Hooks of cairn that the agent has by itself do nothing meanwhile. Only the
directory of a session is looked after, not its additional directories.

Exit status: that of the agent; 128 and the number of the signal that killed it;
126 if it cannot be run, and 127 if it is not there.

Environment:
    CAIRN_ACP            set for the agent: its own hooks of cairn do nothing
    CAIRN_HOOK_DEADLINE  how long a capture may take, as in 5s

Examples:
    cairn acp -- opencode acp
    cairn acp codex-acp
`

// acpVariable tells cairn's hooks of an agent that cairn acp records it.
const acpVariable = "CAIRN_ACP"

func (c *commands) acpCommand() *cobra.Command {
	cmd := c.Command(cli.Command{
		Use: "acp [--] AGENT [ARGUMENT...]", Short: "record an agent that an editor starts", Manual: acpManual,
		Args: cli.ArgCount(1, -1, "the command of an agent"), Complete: cli.CompleteCommand,
		Run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			if c.Global.JSON {
				return c.Usage("has no --json form: it speaks a protocol of its own")
			}
			c.Stay()
			return c.proxy(context.WithoutCancel(ctx), args) // signals are for the agent
		},
	})
	cmd.Flags().SetInterspersed(false) // flags after the command are the agent's
	return cmd
}

// drainTime bounds how long the output of an agent is read that has ended, while a process that it
// left running holds the pipe.
const drainTime = time.Second

// proxy runs an agent between two pipes.
func (c *commands) proxy(ctx context.Context, args []string) error {
	signals := child.NewRelay(func() (*os.File, error) { return os.Open("/dev/tty") })
	defer signals.Stop()
	// A closed stdout is an error of a write then. It does not end this process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	dir, err := c.ChildDir()
	if err != nil {
		return c.CannotRun(args[0], err)
	}
	hooksDir, err := c.hooksDir()
	if err != nil {
		return err
	}
	cmd, err := child.New(args, dir, nil, nil, c.Console.Writer())
	if err != nil {
		return c.CannotRun(args[0], err)
	}
	cmd.Env = append(c.Environ(), acpVariable+"=1")
	stdin, toAgent, err := os.Pipe()
	if err != nil {
		return err
	}
	fromAgent, stdout, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout = stdin, stdout
	if err := cmd.Start(); err != nil {
		return c.CannotRun(args[0], err)
	}
	stdin.Close()
	stdout.Close()
	passed := make(chan struct{})
	go func() {
		defer close(passed)
		streams := acp.Streams{FromEditor: c.Stdin, ToEditor: c.Stdout, ToAgent: toAgent, FromAgent: fromAgent}
		acp.Run(ctx, streams, acp.Options{Record: c.recordEvent(hooksDir), Name: agentProgram(args[0]), Tell: c.Console.Complain})
	}()
	status := signals.Wait(cmd)
	_ = fromAgent.SetReadDeadline(time.Now().Add(drainTime)) // a pipe without deadlines ends with its last writer
	<-passed
	if status != cli.ExitDone {
		return cli.ChildStatus(status)
	}
	return nil
}

// agentProgram is the name of a program, without its folder and ending.
func agentProgram(path string) string {
	name := filepath.Base(path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// recordEvent carries out events as cairn hook does, in this process. Sessions of different
// directories record at the same time, so each event has settings of its own.
func (c *commands) recordEvent(dir string) func(context.Context, string, []byte) []byte {
	self := func() []process.Relative {
		id, _ := process.Of(os.Getpid())
		return []process.Relative{{ID: id, Name: "acp"}}
	}
	return func(ctx context.Context, agent string, event []byte) []byte {
		one := &commands{cli.New(strings.NewReader(""), io.Discard, io.Discard, c.Env, c.Dir)}
		one.Global, one.Spawn, one.Environ, one.Lookup, one.Running = c.Global, c.Spawn, c.Environ, c.Lookup, "hook"
		var out bytes.Buffer
		hooks.Handle(ctx, agent, bytes.NewReader(event), &out, hooks.Options{
			Dir: dir, Deadline: c.hookDeadline(), Open: one.openProject, Home: c.Home(), Line: self, Over: one.SignLater,
		})
		one.CleanLater()
		return out.Bytes()
	}
}
