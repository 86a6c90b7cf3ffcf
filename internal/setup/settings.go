package setup

import (
	"bytes"
	"slices"
	"time"
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
// the backup only by them, the result is the backup, byte by byte; nil means that there
// was no file.
func (a *agent) without(data, backup []byte, hasBackup bool) ([]byte, error) {
	t, err := parseText(data)
	if err != nil {
		return nil, err
	}
	f := a.open(t)
	program, _ := f.program()
	if program == nil {
		return data, nil
	}
	if made, err := a.with(backup, program); err == nil && bytes.Equal(made, data) {
		if !hasBackup {
			return nil, nil
		}
		return backup, nil
	}
	if err := f.removeAll(); err != nil {
		return nil, err
	}
	return t.bytes(), nil
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

func (f toolFile) add(program []string) error {
	entry := server{program[0], append(slices.Clone(program[1:]), "mcp")}
	all, _ := member(&f.root, toolServers)
	if all == nil {
		return f.insert(&f.root, toolServers, map[string]server{toolServer: entry})
	}
	was, _ := member(all, toolServer)
	if was == nil {
		return f.insert(all, toolServer, entry)
	}
	if now, _ := f.program(); slices.Equal(now, program) {
		return nil
	}
	return f.replace(was, entry)
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
	all, _ := member(&f.root, toolServers)
	if all == nil {
		return nil, false
	}
	entry, _ := member(all, toolServer)
	if entry == nil {
		return nil, false
	}
	words := []string{commandOf(entry)}
	args, _ := member(entry, "args")
	if args != nil {
		for i := range elements(args) {
			words = append(words, literal(&elements(args)[i]))
		}
	}
	if n := len(words); words[0] == "" || n < 2 || words[n-1] != "mcp" {
		return nil, false
	}
	return words[:len(words)-1], true
}

func (toolFile) waits() time.Duration { return 0 }
