package system

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Processes runs child processes one after the other or side by side and adds up
// what they cost.
type Processes struct {
	Dir string
	Env []string

	mu   sync.Mutex
	used Usage
}

// Run starts a program, waits for it and returns what it printed. A status other
// than 0 is an error that quotes the program's own words.
func (p *Processes) Run(stdin string, argv ...string) (string, error) {
	return p.RunWith(nil, stdin, argv...)
}

// RunWith is run with more variables in the environment.
func (p *Processes) RunWith(more []string, stdin string, argv ...string) (string, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = p.Dir, slices.Concat(p.Env, more)
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	err := p.Finish(cmd)
	return out.String(), err
}

// RunTo is run with the output in a file. An answer of many megabytes would otherwise
// make this process so large that children begin with its size as their own peak.
func (p *Processes) RunTo(file string, argv ...string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout = p.Dir, p.Env, out
	return errors.Join(p.Finish(cmd), out.Close())
}

// Finish runs a command and counts what it took.
func (p *Processes) Finish(cmd *exec.Cmd) error {
	var diagnostics bytes.Buffer
	cmd.Stderr = &diagnostics
	err := cmd.Run()
	p.account(cmd.ProcessState)
	if err != nil {
		return fmt.Errorf("%s: %w: %s", CommandText(cmd.Args), err, strings.TrimSpace(diagnostics.String()))
	}
	return nil
}

func (p *Processes) account(state *os.ProcessState) {
	if state == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used.CPUSeconds += (state.UserTime() + state.SystemTime()).Seconds()
	p.used.PeakBytes = max(p.used.PeakBytes, peakOf(state))
}

// Used implements contender.
func (p *Processes) Used() Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	used := p.used
	p.used = Usage{}
	return used
}

// CommandText shortens a command for an error message.
func CommandText(argv []string) string {
	const most = 12
	short := append([]string{filepath.Base(argv[0])}, argv[1:]...)
	if len(short) > most {
		short = append(short[:most:most], "...")
	}
	return strings.Join(short, " ")
}

// ExitedWith reports whether err is the end of a process with a status other than 0.
func ExitedWith(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit)
}

// CleanEnv is the environment of every child: nothing of git's variables and of
// the user's configuration.
func CleanEnv(home string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"),
		"LC_ALL=C", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
	}
	for _, name := range []string{"SYSTEMROOT", "TMPDIR", "TEMP", "TMP"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
