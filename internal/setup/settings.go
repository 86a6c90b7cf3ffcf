package setup

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/tailscale/hujson"
)

// settings is a settings file as an agent uses it for cairn.
type settings interface {
	add(program []string) error                 // cairn's entries, where they are missing or out of date
	removeAll() error                           // cairn's entries
	program() (program []string, complete bool) // how the entries start cairn, nil for none
	waits() time.Duration                       // for the answer to a prompt, 0 if not known
}

// open reads the settings in a text.
func (a *agent) open(t *text) settings {
	if a.Tools {
		return toolFile{a, t}
	}
	return hookFile{a, t}
}

// with returns a settings file with cairn's entries.
func (a *agent) with(data []byte, program []string) ([]byte, error) {
	t, err := parseText(data)
	if err != nil {
		return nil, err
	}
	before := bytes.Clone(t.data)
	if err := a.open(t).add(program); err != nil {
		return nil, err
	}
	if bytes.Equal(before, t.data) {
		return data, nil
	}
	return t.bytes(), nil
}

// without returns a settings file without cairn's entries. If the file differs from
// the backup only by them, the result is the backup, byte by byte; nil means that nothing
// else was ever in it. A backup with entries of cairn, from before cairn has moved, is
// not what the file was before cairn.
func (a *agent) without(data, backup []byte, hasBackup bool) ([]byte, error) {
	t, err := parseText(data)
	if err != nil {
		return nil, err
	}
	f := a.open(t)
	program, _ := f.program()
	switch {
	case program == nil:
		return data, nil
	case hasBackup && !a.connected(backup) && a.isMade(data, backup, program):
		return backup, nil
	case a.isMade(data, nil, program):
		return nil, nil
	}
	if err := f.removeAll(); err != nil {
		return nil, err
	}
	return t.bytes(), nil
}

// isMade reports whether data is before with cairn's entries and nothing else.
func (a *agent) isMade(data, before []byte, program []string) bool {
	made, err := a.with(before, program)
	return err == nil && bytes.Equal(made, data)
}

// alone reports whether a settings file has entries of cairn and nothing else.
func (a *agent) alone(data []byte) bool {
	t, err := parseText(data)
	if err != nil {
		return false
	}
	program, _ := a.open(t).program()
	return program != nil && a.isMade(data, nil, program)
}

// toolFile is a settings file in which an agent lists servers of tools.
type toolFile struct {
	*agent
	*text
}

const (
	toolServers = "amp.mcpServers"
	toolServer  = "cairn"
)

// server is the form of an entry of Amp.
type server struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// add makes cairn a server. In an entry of cairn it changes only how cairn is started: what the user has added there,
// such as variables, stays.
func (f toolFile) add(program []string) error {
	entry := server{program[0], append(slices.Clone(program[1:]), "mcp")}
	all, _ := member(&f.root, toolServers)
	if all == nil {
		return f.insert(&f.root, toolServers, map[string]server{toolServer: entry})
	}
	if _, ok := all.Value.(*hujson.Object); !ok {
		return fmt.Errorf("%w: %q is no object", errForm, toolServers)
	}
	if was, _ := member(all, toolServer); was == nil {
		return f.insert(all, toolServer, entry)
	}
	now, _ := f.program()
	if now == nil {
		return fmt.Errorf("the server %q in %q is %w: rename it, then try again", toolServer, toolServers, ErrForeign)
	}
	if now[0] != program[0] {
		if err := f.replace(f.part("command"), entry.Command); err != nil {
			return err
		}
	}
	if slices.Equal(now[1:], program[1:]) {
		return nil
	}
	return f.replace(f.part("args"), entry.Args)
}

// part returns a member of the entry of cairn, nil if there is none.
func (f toolFile) part(name string) *hujson.Value {
	value := &f.root
	for _, name := range []string{toolServers, toolServer, name} {
		if value, _ = member(value, name); value == nil {
			return nil
		}
	}
	return value
}

func (f toolFile) removeAll() error {
	all, at := member(&f.root, toolServers)
	_, i := member(all, toolServer)
	if kids := f.inside(all).kids; len(kids) > 1 {
		return f.remove(all, i)
	}
	return f.remove(&f.root, at)
}

func (f toolFile) program() (program []string, complete bool) {
	var words []string
	if command := f.part("command"); command != nil {
		words = append(words, literal(command))
	}
	if args := f.part("args"); args != nil {
		for i := range elements(args) {
			words = append(words, literal(&elements(args)[i]))
		}
	}
	if n := len(words); n < 2 || !named(words[0]) || words[n-1] != "mcp" {
		return nil, false
	}
	return words[:len(words)-1], true
}

func (toolFile) waits() time.Duration { return 0 }
