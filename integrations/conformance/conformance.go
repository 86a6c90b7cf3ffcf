// Package conformance holds scenarios in which the undo of coding agents loses work, and runs them
// against any agent. An agent is reached through a Driver: a value in Go, or a program that speaks
// the protocol in README.md.
//
// The package imports nothing of cairn: it judges cairn like every other driver.
package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Driver plays turns of an agent in a directory and takes them back by the agent's own means. A
// method returns ErrUnsupported if the agent has nothing for it.
type Driver interface {
	// Start begins to look after a directory.
	Start(dir string) error

	// Turn plays one turn of a session. The agent carries out the ops with its tools, in order.
	Turn(session string, ops []Op) error

	// Undo takes back the newest turn of a session that is in effect, Redo brings it back.
	Undo(session string) error
	Redo(session string) error

	// Stop ends all that Start began.
	Stop() error
}

// Killer is a driver whose undo can be killed in the middle.
type Killer interface {
	// KillUndo begins an undo and kills it after a time. An undo that has ended by then counts, too.
	KillUndo(session string, after time.Duration) error
}

// ErrUnsupported is the error of a driver that cannot play a part of a scenario.
var ErrUnsupported = errors.New("unsupported")

// Op is one call of a tool in a turn: exactly one of Write, Edit and Shell is set. Paths count from
// the directory.
type Op struct {
	Write string `json:"write,omitempty"` // path of a file that the agent's tool for files writes
	Text  string `json:"text,omitempty"`  // what it writes

	Edit string `json:"edit,omitempty"` // path of a file in which it replaces a text
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`

	Shell string `json:"shell,omitempty"` // command for the agent's shell tool
}

// Outcome is the end of a scenario.
type Outcome string

// The outcomes. Error: the driver failed, so nothing is known.
const (
	Keeps       Outcome = "keeps"
	Loses       Outcome = "loses"
	Unsupported Outcome = "unsupported"
	Error       Outcome = "error"
)

// Result is the outcome of one scenario.
type Result struct {
	Scenario string  `json:"scenario"`
	Outcome  Outcome `json:"outcome"`
	Detail   string  `json:"detail,omitempty"`
}

// Report is the outcome of all scenarios for one driver.
type Report struct {
	Driver  string   `json:"driver"`
	About   string   `json:"about,omitempty"` // version, and the means that undo uses
	Results []Result `json:"results"`
}

// Add adds a result, in the place of an older one of its scenario. Results stand in the order of the
// scenarios.
func (r *Report) Add(res Result) {
	place := func(name string) int {
		return slices.IndexFunc(Scenarios(), func(s Scenario) bool { return s.Name == name })
	}
	r.Results = slices.DeleteFunc(r.Results, func(old Result) bool { return old.Scenario == res.Scenario })
	r.Results = append(r.Results, res)
	slices.SortStableFunc(r.Results, func(a, b Result) int { return place(a.Scenario) - place(b.Scenario) })
}

// Run plays scenarios, each in a new directory below temp with a new driver.
func Run(temp string, list []Scenario, driver func() Driver) []Result {
	var results []Result
	for i := range list {
		results = append(results, runOne(temp, &list[i], driver()))
	}
	return results
}

// runOne plays one scenario.
func runOne(temp string, s *Scenario, d Driver) (res Result) {
	res.Scenario = s.Name
	top, err := os.MkdirTemp(temp, "scenario-")
	if err == nil {
		top, err = filepath.EvalSymlinks(top)
	}
	if err != nil {
		res.Outcome, res.Detail = Error, err.Error()
		return res
	}
	defer removeAll(top)
	p := &play{driver: d, dir: filepath.Join(top, "project"), outside: filepath.Join(top, "outside")}
	defer func() {
		if r := recover(); r != nil && r != errOver {
			panic(r)
		}
		if err := d.Stop(); err != nil && p.err == nil {
			p.err = fmt.Errorf("stop: %w", err)
		}
		res.Outcome, res.Detail = p.outcome()
	}()
	p.begin(s)
	s.Play(p)
	return res
}

// errOver ends a scenario that cannot go on.
var errOver = errors.New("over")

func (p *play) outcome() (Outcome, string) {
	switch {
	case len(p.lost) > 0:
		return Loses, strings.Join(p.lost, "; ")
	case errors.Is(p.err, ErrUnsupported):
		return Unsupported, strings.TrimPrefix(p.err.Error(), "unsupported: ")
	case p.err != nil:
		return Error, p.err.Error()
	}
	return Keeps, p.note
}

// removeAll removes a directory whose parts may forbid it.
func removeAll(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
