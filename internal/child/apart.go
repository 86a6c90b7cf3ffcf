package child

import (
	"context"
	"os"
	"os/exec"
	"time"
)

// grace is how long a command that was asked to end may take until it is killed.
const grace = 5 * time.Second

// Apart is a command beside this process: it has no terminal, its stdin is empty, and signals of the
// terminal do not reach it. The processes that it starts end with it when its context ends.
type Apart struct {
	ctx   context.Context
	cmd   *exec.Cmd
	group group
}

// StartApart starts a command in a directory, with exactly this environment. The file gets stdout and
// stderr. When the context ends, all processes of the command are asked to end, and after 5 seconds
// killed. Fault explains the error.
func StartApart(ctx context.Context, args []string, dir string, env []string, output *os.File) (*Apart, error) {
	a := &Apart{ctx: ctx, cmd: exec.CommandContext(ctx, args[0], args[1:]...)}
	a.cmd.Dir, a.cmd.Env, a.cmd.Stdout, a.cmd.Stderr = dir, env, output, output
	a.group.prepare(a.cmd)
	a.cmd.Cancel = func() error { return a.group.ask(a.cmd.Process) }
	a.cmd.WaitDelay = grace
	if err := a.cmd.Start(); err != nil {
		return nil, err
	}
	a.group.add(a.cmd.Process)
	return a, nil
}

// PID returns the number of the process.
func (a *Apart) PID() int { return a.cmd.Process.Pid }

// Wait waits for the end of the command and returns its status. Processes that the command has left
// behind go on, unless the context has ended.
func (a *Apart) Wait() int {
	_ = a.cmd.Wait() // its error is in the state
	if a.ctx.Err() != nil {
		a.group.kill(a.cmd.Process)
	}
	a.group.forget()
	if a.cmd.ProcessState == nil {
		return unknown
	}
	return statusOf(a.cmd.ProcessState)
}
