// Package pager shows an answer through a program that stops after every page, such as less. Which
// program, and with which variables, is decided as in git.
package pager

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"sync/atomic"
)

// Pager is a running pager. It is written to by one goroutine.
type Pager struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	ended   chan struct{}
	early   atomic.Bool // it ended before its input did
	signals chan os.Signal
}

// Start runs the command of a pager in this process's group, so that the terminal sends Ctrl-C and
// Ctrl-Z to both. From then on an interrupt does not end this process: the pager has the terminal,
// and decides. quit is called when the pager has ended.
func Start(command string, environ []string, out, errs *os.File, quit func()) (*Pager, error) {
	args := argv(command)
	p := &Pager{cmd: exec.Command(args[0], args[1:]...), ended: make(chan struct{}), signals: make(chan os.Signal, 1)}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.Env = out, errs, environ
	asTyped(p.cmd)
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.in = in
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if !signal.Ignored(os.Interrupt) {
		signal.Notify(p.signals, os.Interrupt)
	}
	go func() {
		p.cmd.Process.Wait() // how it ended is its own business
		p.early.Store(true)
		close(p.ended)
		quit()
	}()
	return p, nil
}

// versionOf asks a less for its version, 0 if it does not say.
func versionOf(name string) int {
	out, err := exec.Command(name, "--version").Output()
	if err != nil {
		return 0
	}
	var version int
	if _, err := fmt.Sscanf(string(out), "less %d", &version); err != nil {
		return 0
	}
	return version
}

// IsMissing reports whether Start failed because there is no such program.
func IsMissing(err error) bool {
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist)
}

// Write implements io.Writer. What a pager that has ended does not want is dropped.
func (p *Pager) Write(text []byte) (int, error) {
	n, err := p.in.Write(text)
	if err != nil && isBroken(err) {
		p.early.Store(true)
		return len(text), nil
	}
	return n, err
}

// Close ends the input of the pager and waits until the person has left it. quit reports whether it
// ended before its input did.
func (p *Pager) Close() (early bool, err error) {
	early = p.early.Load()
	if err = p.in.Close(); errors.Is(err, os.ErrClosed) {
		err = nil
	}
	<-p.ended
	signal.Stop(p.signals)
	return early, err
}
