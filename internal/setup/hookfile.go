package setup

import (
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

// form is how a settings file lists hooks.
type form int

const (
	grouped   form = iota // an event has groups, which have handlers
	flat                  // an event has handlers
	versioned             // likewise, in a file that has a version
)

// flatHandler is the form of an entry of Crush and Cursor.
type flatHandler struct {
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
// the user has chosen stays, and so do variables before the program.
func (f hookFile) add(program []string) error {
	command := commandLine(program, f.Name)
	if version, _ := member(&f.root, "version"); f.form == versioned && version == nil {
		if err := f.insert(&f.root, "version", 1); err != nil {
			return err
		}
	}
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
		if was := commandOf(entry); was != variables(was)+command {
			value, _ := member(entry, "command")
			if err := f.replace(value, variables(was)+command); err != nil {
				return found, err
			}
		}
	}
}

// entry returns cairn's nth handler of an event.
func (f hookFile) entry(event string, n int) *hujson.Value {
	var found *hujson.Value
	f.each(func(at place) bool {
		if at.event == event {
			if n == 0 {
				found = at.handler
			}
			n--
		}
		return found == nil
	})
	return found
}

// place is where a handler of cairn lies. In a flat file a handler is its own group.
type place struct {
	event   string
	member  int           // index of the event
	groups  *hujson.Value // of the event
	group   int           // index in groups
	index   int           // in the group, -1 in a flat file
	handler *hujson.Value
}

// each calls visit for every handler that is cairn's and that the agent reads, until it returns false. Of several
// members with one name the last counts.
func (f hookFile) each(visit func(place) bool) {
	f.eachOfAll(func(at place) bool {
		all, _ := member(&f.root, "hooks")
		if _, last := member(all, at.event); last != at.member {
			return true
		}
		return visit(at)
	})
}

// eachOfAll is each, with the handlers that the agent does not read.
func (f hookFile) eachOfAll(visit func(place) bool) {
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
			if !f.eachIn(&elements(groups)[g], func(h *hujson.Value, i int) bool { return visit(place{name, m, groups, g, i, h}) }) {
				return
			}
		}
	}
}

// eachIn calls visit for the handlers of a group that are cairn's, until it returns false.
func (f hookFile) eachIn(group *hujson.Value, visit func(h *hujson.Value, i int) bool) bool {
	if f.form != grouped {
		return ours(commandOf(group), f.Name) == nil || visit(group, -1)
	}
	list, _ := member(group, "hooks")
	if list == nil {
		return true
	}
	for i := range elements(list) {
		h := &elements(list)[i]
		if ours(commandOf(h), f.Name) != nil && !visit(h, i) {
			return false
		}
	}
	return true
}

// visit calls f for every handler that is cairn's, with its event and positions.
func (f hookFile) visit(visit func(event string, g, i int)) {
	f.each(func(at place) bool {
		visit(at.event, at.group, at.index)
		return true
	})
}

func (f hookFile) addEvent(event hookEvent, command string) error {
	timeout := f.units(event.timeout)
	var entry any = group{Matcher: event.matcher, Hooks: []handler{{Type: "command", Name: f.label, Command: command, Timeout: timeout}}}
	if f.form != grouped {
		entry = flatHandler{f.label, command, timeout}
	}
	all, _ := member(&f.root, "hooks")
	if all == nil {
		return f.insert(&f.root, "hooks", map[string][]any{event.name: {entry}})
	}
	if _, ok := all.Value.(*hujson.Object); !ok {
		return fmt.Errorf("%w: \"hooks\" is no object", errForm)
	}
	groups, _ := member(all, event.name)
	if groups == nil {
		return f.insert(all, event.name, []any{entry})
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

// promptEvents are the events at which agents wait for the answer to a prompt.
var promptEvents = []string{"UserPromptSubmit", "BeforeAgent", "beforeSubmitPrompt"}

// waits returns how long the agent waits for cairn's answer to a prompt, 0 if no entry
// says so.
func (f hookFile) waits() (shortest time.Duration) {
	f.each(func(at place) bool {
		value, _ := member(at.handler, "timeout")
		if !slices.Contains(promptEvents, at.event) || value == nil {
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

// removeAll removes cairn's entries, and the lists and objects that are empty without
// them. A list with a comment is not empty.
func (f hookFile) removeAll() error {
	for {
		var found *place
		f.eachOfAll(func(at place) bool {
			found = &at
			return false
		})
		if found == nil {
			return nil
		}
		if err := f.removeHook(found); err != nil {
			return err
		}
	}
}

func (f hookFile) removeHook(at *place) error {
	list, _ := member(&elements(at.groups)[at.group], "hooks")
	all, hooks := member(&f.root, "hooks")
	switch {
	case at.index >= 0 && !f.lone(list):
		return f.remove(list, at.index)
	case !f.lone(at.groups):
		return f.remove(at.groups, at.group)
	case !f.lone(all):
		return f.remove(all, at.member)
	}
	return f.remove(&f.root, hooks)
}

// program returns how the entries call cairn, nil if there are none, and whether all
// events are there that should be.
func (f hookFile) program() (program []string, complete bool) {
	events := make(map[string]bool)
	f.each(func(at place) bool {
		program, events[at.event] = ours(commandOf(at.handler), f.Name), true
		return true
	})
	return program, !slices.ContainsFunc(f.events, func(e hookEvent) bool { return !events[e.name] })
}
