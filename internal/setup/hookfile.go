package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/tailscale/hujson"
)

// hookEvent is one event that an agent is told to call cairn for.
type hookEvent struct {
	name    string
	matcher string // "" = none
	timeout int    // in seconds
}

// group and handler are the form of the entries of Claude Code, Codex, Gemini CLI and
// Qwen Code.
type group struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []handler `json:"hooks"`
}

type handler struct {
	Type    string `json:"type"`
	Name    string `json:"name,omitempty"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"`
}

// hookFile is a settings file with hooks in it.
type hookFile struct {
	*agent
	*text
}

// add makes every event of the agent call cairn. In existing entries of cairn it changes
// only the path of the program and a timeout that an earlier setup wrote; a timeout that
// the user has chosen stays.
func (f hookFile) add(program []string) error {
	command := commandLine(program, f.name)
	for _, event := range f.events {
		found, err := f.update(event, command)
		if err == nil && !found {
			err = f.addEvent(event, command)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// update brings the entries of an event up to date, and reports whether there are any.
func (f hookFile) update(event hookEvent, command string) (found bool, err error) {
	for i := 0; ; i++ {
		entry := f.entry(event.name, i)
		if entry == nil {
			return found, nil
		}
		found = true
		if value, _ := member(entry, "timeout"); value != nil && event.timeout == waited && numberOf(value) == f.units(patience) {
			if err := f.replace(value, f.units(waited)); err != nil {
				return found, err
			}
			entry = f.entry(event.name, i)
		}
		if textOf(entry, "command") != command {
			value, _ := member(entry, "command")
			if err := f.replace(value, command); err != nil {
				return found, err
			}
		}
	}
}

// entry returns cairn's nth handler of an event.
func (f hookFile) entry(event string, n int) *hujson.Value {
	var found *hujson.Value
	f.each(func(name string, _ *hujson.Value, _ int, h *hujson.Value, _ int) bool {
		if name == event {
			if n == 0 {
				found = h
			}
			n--
		}
		return found == nil
	})
	return found
}

// each calls visit for every handler that is cairn's, with the array of groups, the
// group's index in it, and the handler's index in the group, until it returns false.
func (f hookFile) each(visit func(event string, groups *hujson.Value, g int, h *hujson.Value, i int) bool) {
	all, _ := member(&f.root, "hooks")
	if all == nil {
		return
	}
	obj, ok := all.Value.(*hujson.Object)
	if !ok {
		return
	}
	for m := range obj.Members {
		name, groups := obj.Members[m].Name.Value.(hujson.Literal).String(), &obj.Members[m].Value
		for g := range elements(groups) {
			list, _ := member(&elements(groups)[g], "hooks")
			if list == nil {
				continue
			}
			for i := range elements(list) {
				h := &elements(list)[i]
				if ours(textOf(h, "command"), f.name) != nil && !visit(name, groups, g, h, i) {
					return
				}
			}
		}
	}
}

// visit calls f for every handler that is cairn's, with its event and positions.
func (f hookFile) visit(visit func(event string, g, i int)) {
	f.each(func(event string, _ *hujson.Value, g int, _ *hujson.Value, i int) bool {
		visit(event, g, i)
		return true
	})
}

func (f hookFile) addEvent(event hookEvent, command string) error {
	timeout := f.units(event.timeout)
	entry := group{Matcher: event.matcher, Hooks: []handler{{Type: "command", Name: f.label, Command: command, Timeout: timeout}}}
	all, _ := member(&f.root, "hooks")
	if all == nil {
		return f.insert(&f.root, "hooks", map[string][]group{event.name: {entry}})
	}
	if _, ok := all.Value.(*hujson.Object); !ok {
		return fmt.Errorf("%w: \"hooks\" is no object", errForm)
	}
	groups, _ := member(all, event.name)
	if groups == nil {
		return f.insert(all, event.name, []group{entry})
	}
	if _, ok := groups.Value.(*hujson.Array); !ok {
		return fmt.Errorf("%w: \"hooks.%s\" is no array", errForm, event.name)
	}
	return f.insert(groups, "", entry)
}

// units is a number of seconds as the agent counts time.
func (a *agent) units(seconds int) int {
	if a.millis {
		return seconds * 1000
	}
	return seconds
}

// numberOf returns a whole number, -1 for anything else.
func numberOf(v *hujson.Value) int {
	n := -1
	if err := json.Unmarshal([]byte(v.String()), &n); err != nil {
		return -1
	}
	return n
}

// waits returns how long the agent waits for cairn's answer to a prompt, 0 if no entry
// says so.
func (f hookFile) waits() (shortest time.Duration) {
	f.each(func(event string, _ *hujson.Value, _ int, h *hujson.Value, _ int) bool {
		value, _ := member(h, "timeout")
		if (event != "UserPromptSubmit" && event != "BeforeAgent") || value == nil {
			return true
		}
		unit := time.Second
		if f.millis {
			unit = time.Millisecond
		}
		if d := time.Duration(numberOf(value)) * unit; d > 0 && (shortest == 0 || d < shortest) {
			shortest = d
		}
		return true
	})
	return shortest
}

// removeHooks removes cairn's entries, and the lists and objects that are empty without
// them.
func (f hookFile) removeHooks() error {
	for {
		var event string
		var groups *hujson.Value
		var g, i int
		f.each(func(name string, gs *hujson.Value, gi int, _ *hujson.Value, hi int) bool {
			event, groups, g, i = name, gs, gi, hi
			return false
		})
		if groups == nil {
			return nil
		}
		if err := f.removeHook(event, groups, g, i); err != nil {
			return err
		}
	}
}

func (f hookFile) removeHook(event string, groups *hujson.Value, g, i int) error {
	list, _ := member(&elements(groups)[g], "hooks")
	all, at := member(&f.root, "hooks")
	_, eventAt := member(all, event)
	switch {
	case len(elements(list)) > 1:
		return f.remove(list, i)
	case len(elements(groups)) > 1:
		return f.remove(groups, g)
	case len(all.Value.(*hujson.Object).Members) > 1:
		return f.remove(all, eventAt)
	}
	return f.remove(&f.root, at)
}

// program returns how the entries call cairn, nil if there are none, and whether all
// events are there that should be.
func (f hookFile) program() (program []string, complete bool) {
	events := make(map[string]bool)
	f.each(func(name string, _ *hujson.Value, _ int, h *hujson.Value, _ int) bool {
		program, events[name] = ours(textOf(h, "command"), f.name), true
		return true
	})
	return program, !slices.ContainsFunc(f.events, func(e hookEvent) bool { return !events[e.name] })
}

// withHooks returns a settings file with cairn's entries.
func (a *agent) withHooks(data []byte, program []string) ([]byte, error) {
	t, err := parseText(data)
	if err != nil {
		return nil, err
	}
	before := bytes.Clone(t.data)
	if err := (hookFile{a, t}).add(program); err != nil {
		return nil, err
	}
	if bytes.Equal(before, t.data) {
		return data, nil
	}
	return t.bytes(), nil
}

// withoutHooks returns a settings file without cairn's entries. If the file differs from
// the backup only by them, the result is the backup, byte by byte; nil means that there
// was no file.
func (a *agent) withoutHooks(data, backup []byte, hasBackup bool) ([]byte, error) {
	t, err := parseText(data)
	if err != nil {
		return nil, err
	}
	f := hookFile{a, t}
	program, _ := f.program()
	if program == nil {
		return data, nil
	}
	if made, err := a.withHooks(backup, program); err == nil && bytes.Equal(made, data) {
		if !hasBackup {
			return nil, nil
		}
		return backup, nil
	}
	if err := f.removeHooks(); err != nil {
		return nil, err
	}
	return t.bytes(), nil
}
