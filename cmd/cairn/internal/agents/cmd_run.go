package agents

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/child"
	"github.com/seed-fb9cbc17/cairn/internal/recorder"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const runManual = `cairn run runs a command and takes checkpoints around it: for agents, scripts
and generators that have no hooks.

Usage:
    cairn run [--] COMMAND [ARGUMENT...]

There is a checkpoint before the command starts, one whenever the files come to
rest after a burst of writes, and one when it has ended. They are kept as a
session in which every burst is a turn, so that all of it or its latter part can
be taken back; what you change beside it while it runs counts as the command's,
too. The id of the session is on stderr at the end, but where the command has
changed no file.

The command has the terminal, stdin, stdout and stderr as if started without
cairn, and its exit status is that of cairn. Ctrl-C, Ctrl-Z and other signals
reach it; it is for the command to say what they do. If a checkpoint fails the
command goes on, and there is a warning at the end.

If the command is or starts an agent that has cairn's hooks, those record its
turns, step by step, and cairn undo takes them back. From their first event on
cairn run takes no checkpoints of that directory: what the command changes there
outside of the agent's turns is not recorded. A cairn run that a tool of such an
agent starts is a part of the tool's step.

How often cairn looks follows what looking costs: every half second in a small
project, less often in a large one, so that it takes a few percent of one
processor at most. Between two looks bursts may run together; the checkpoint at
the end misses nothing.

Exit status: that of the command; 128 and the number of the signal that killed
it; 126 if it cannot be run, 127 if it is not there, and 130 if you interrupt
the first checkpoint, in which case it is not started.

Examples:
    cairn run -- make generate
    cairn -C site run npm run codemod
`

func (c *commands) runCommand() *cobra.Command {
	cmd := c.Command(cli.Command{
		Use: "run [--] COMMAND [ARGUMENT...]", Short: "run a command with checkpoints around it", Manual: runManual,
		Args: cli.ArgCount(1, -1, "a command"), Complete: cli.CompleteCommand,
		Run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			if c.Global.JSON {
				return c.Usage("has no --json form: the answer is the command's")
			}
			return c.supervise(ctx, args)
		},
	})
	cmd.Flags().SetInterspersed(false) // flags after the command are the command's
	return cmd
}

// supervise runs a command between checkpoints. Only an interrupt of the first
// checkpoint keeps it from running.
func (c *commands) supervise(ctx context.Context, args []string) error {
	signals := child.NewRelay(func() (*os.File, error) { return os.Open("/dev/tty") })
	defer signals.Stop()
	dir, err := c.ChildDir()
	if err != nil {
		return c.CannotRun(args[0], err)
	}
	cmd, err := child.New(args, dir, c.Stdin, c.Stdout, c.Console.Writer())
	if err != nil {
		return c.CannotRun(args[0], err)
	}
	recording := recorder.Begin(ctx, c.Open, args, c.Console.Now(), false)
	defer recording.Close()
	c.Warn(recording.Faults)
	cmd.Env = append(c.Environ(), recorder.Variable+"="+recording.ID)
	if ctx.Err() != nil {
		c.forget(recording)
		return fmt.Errorf("the command was not started: %w", ctx.Err())
	}
	// From here on signals and the terminal are for the command.
	ctx = context.WithoutCancel(ctx)
	c.Console.Hold()
	if err := cmd.Start(); err != nil {
		c.Console.Release()
		c.forget(recording)
		return c.CannotRun(args[0], err)
	}
	recording.Child, _ = session.ProcessOf(cmd.Process.Pid)
	watching, rest := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		recording.Watch(watching)
	}()
	status := signals.Wait(cmd)
	rest()
	<-watched
	c.Console.Release()
	c.endRecording(ctx, signals, recording)
	if status != cli.ExitDone {
		return cli.ChildStatus(status)
	}
	return nil
}

func (c *commands) forget(recording *recorder.Recording) {
	if err := recording.Forget(); err != nil {
		c.Warn([]string{strings.Join(wording.Messages(err), "; ")})
	}
}

// endRecording takes the last checkpoint. A signal that comes now is for cairn.
func (c *commands) endRecording(ctx context.Context, signals *child.Relay, recording *recorder.Recording) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer signals.Redirect(cancel)()
	bursts := recording.End(ctx)
	c.Warn(recording.Faults)
	if recording.TakenOver {
		c.Console.Remark("the hooks of an agent have the record, or a cairn run around this one; to take it back: cairn undo")
	}
	if bursts > 0 {
		c.Console.Remark("%s of changes; to take it back: cairn session revert %s --start", wording.Count(bursts, "burst"), recording.ID)
	}
}
