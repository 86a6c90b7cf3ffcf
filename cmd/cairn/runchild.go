package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"sync"
)

const (
	exitCannotRun = 126 // as shells have it
	exitNoCommand = 127
	exitSignal    = 128 // and the signal's number
)

// newChild prepares the command with this process's streams, to be started in this
// process's group: the terminal treats both as one job, so that Ctrl-C and Ctrl-Z reach the
// command without help, and a shell gets the job back when both have stopped.
func (c *cli) newChild(args []string) (*exec.Cmd, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.stdin, c.stdout, c.console.w
	if c.global.directory != "" {
		dir, err := c.workDir()
		if err != nil {
			return nil, err
		}
		cmd.Dir = dir
	}
	return cmd, cmd.Err
}

func (c *cli) neverStarted(name string, err error) error {
	reason := err.Error()
	if fault := new(exec.Error); errors.As(err, &fault) {
		reason = plainText(fault.Err)
	} else if fault := new(fs.PathError); errors.As(err, &fault) {
		reason = fault.Err.Error()
	}
	c.console.complain("cannot run " + shellWord(name) + ": " + reason)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return childStatus(exitNoCommand)
	}
	return childStatus(exitCannotRun)
}

// relay holds the signals that this process gets, from before the command starts
// until it has ended, and passes those on that the terminal has not given it already.
type relay struct{ signals chan os.Signal }

// newRelay starts to hold signals. One that the caller had set to be ignored stays so,
// for the command, too.
func newRelay() *relay {
	r := &relay{make(chan os.Signal, 16)}
	var held []os.Signal
	for _, s := range heldSignals {
		if !signal.Ignored(s) {
			held = append(held, s)
		}
	}
	if len(held) > 0 { // no signals at all would mean every signal
		signal.Notify(r.signals, held...)
	}
	return r
}

func (r *relay) stop() { signal.Stop(r.signals) }

// wait passes signals on to a command until it ends, and returns its status.
func (r *relay) wait(cmd *exec.Cmd) int {
	ended := make(chan struct{})
	var passing sync.WaitGroup
	passing.Go(func() {
		for {
			select {
			case s := <-r.signals:
				if !fromTerminal(s) {
					cmd.Process.Signal(s) // an error means that it has just ended
				}
			case <-ended:
				return
			}
		}
	})
	cmd.Wait() // its error is in the state
	close(ended)
	passing.Wait()
	if cmd.ProcessState == nil {
		return exitFailed // the system has not told how it ended
	}
	return childStatusOf(cmd.ProcessState)
}

// redirect lets the next signal end something else than the command, until the
// function that it returns is called.
func (r *relay) redirect(cancel context.CancelFunc) (back func()) {
	done := make(chan struct{})
	go func() {
		select {
		case <-r.signals:
			cancel()
		case <-done:
		}
	}()
	return func() { close(done) }
}
