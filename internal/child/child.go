// Package child runs a command as if it had been started in the place of this process: the
// command has the streams and the terminal, gets the signals, and decides the exit status.
package child

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Exit statuses of a command that was not started, as shells have them.
const (
	CannotRun = 126
	NotFound  = 127
)

const (
	signalled = 128 // and the signal's number
	unknown   = 1
)

// New prepares a command, to be started in this process's group: the terminal treats
// both as one job, so that Ctrl-C and Ctrl-Z reach the command without help, and a shell
// gets the job back when both have stopped. An empty dir is the current directory.
func New(args []string, dir string, stdin io.Reader, stdout, stderr io.Writer) (*exec.Cmd, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = stdin, stdout, stderr, dir
	return cmd, cmd.Err
}

// Fault explains why a command could not be started.
func Fault(err error) (status int, reason string) {
	reason = err.Error()
	if fault := new(exec.Error); errors.As(err, &fault) {
		reason = wording.Plain(fault.Err)
	} else if fault := new(fs.PathError); errors.As(err, &fault) {
		reason = fault.Err.Error()
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return NotFound, reason
	}
	return CannotRun, reason
}

// Relay collects the signals that this process gets, from before the command starts
// until it has ended, and passes on those that the terminal has not sent to the command
// itself.
type Relay struct {
	signals  chan os.Signal
	terminal func() (*os.File, error)
}

// NewRelay starts to collect signals. A signal that the caller had set to be ignored stays
// ignored, for the command, too. terminal opens the controlling terminal.
func NewRelay(terminal func() (*os.File, error)) *Relay {
	r := &Relay{make(chan os.Signal, 16), terminal}
	var wanted []os.Signal
	for _, s := range relayed {
		if !signal.Ignored(s) {
			wanted = append(wanted, s)
		}
	}
	if len(wanted) > 0 { // no signals at all would mean every signal
		signal.Notify(r.signals, wanted...)
	}
	return r
}

// Stop ends the collecting.
func (r *Relay) Stop() { signal.Stop(r.signals) }

// Wait passes signals on to a command until it ends, and returns its status.
func (r *Relay) Wait(cmd *exec.Cmd) int {
	ended := make(chan struct{})
	var passing sync.WaitGroup
	passing.Go(func() {
		for {
			select {
			case s := <-r.signals:
				if !r.fromTerminal(s) {
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
		return unknown // the system has not told how it ended
	}
	return statusOf(cmd.ProcessState)
}

// Redirect makes the next signal call cancel instead of reaching the command, until the
// function that it returns is called.
func (r *Relay) Redirect(cancel context.CancelFunc) (back func()) {
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
