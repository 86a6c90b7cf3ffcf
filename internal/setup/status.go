package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/BurntSushi/toml"
)

// Status tells whether and how an agent is connected with cairn.
type Status struct {
	Agent string // as cairn setup takes it
	Title string // for people
	Found bool   // the agent keeps its configuration here
	File  string // with cairn's entries, or the adapter
	Err   error  // File cannot be understood

	SetUp    bool
	Complete bool     // nothing is missing that this version would add
	Program  []string // how the entries start cairn
	Gone     bool     // that program is not there any more

	// Unreviewed lists the events whose entries Codex skips, because its configuration
	// does not know that the user has reviewed them. It may keep that elsewhere in
	// another version.
	Unreviewed []string
}

// Statuses finds out how each agent on this machine is set up.
func Statuses(p Places) []Status {
	var list []Status
	for _, a := range agents {
		if a.home(p) != "" {
			list = append(list, a.status(p))
		}
	}
	return list
}

func (a *agent) status(p Places) Status {
	s := Status{Agent: a.name, Title: a.title}
	info, err := os.Stat(a.home(p))
	if s.Found = err == nil && info.IsDir(); !s.Found {
		return s
	}
	if s.File = a.settingsPath(p); s.File != "" {
		a.checkSettings(p, &s)
	} else {
		a.checkAdapter(p, &s)
	}
	if s.SetUp && filepath.IsAbs(s.Program[0]) {
		_, err := os.Stat(s.Program[0])
		s.Gone = errors.Is(err, fs.ErrNotExist)
	}
	return s
}

func (a *agent) checkSettings(p Places, s *Status) {
	data, err := os.ReadFile(s.File)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var t *text
	if err == nil {
		t, err = parseText(data)
	}
	if err != nil {
		s.Err = err
		return
	}
	s.Program, s.Complete = hookFile{a, t}.program()
	s.SetUp = s.Program != nil
	if s.SetUp && a.name == "codex" {
		s.Unreviewed = unreviewed(filepath.Join(a.dir(p), "config.toml"), s.File, hookFile{a, t})
	}
}

func (a *agent) checkAdapter(p Places, s *Status) {
	f := a.files([]string{"cairn"})[0]
	s.File = filepath.Join(a.home(p), filepath.FromSlash(f.path))
	data, err := os.ReadFile(s.File)
	if err != nil || !strings.Contains(string(data), marker) {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.Err = err
		}
		return
	}
	s.Program = programIn(string(data))
	s.SetUp, s.Complete = s.Program != nil, asMade(string(data), f.text)
}

// unreviewed reads Codex' list of hooks that the user has trusted. It names them by
// file, event, and position. Codex also keeps a hash, by which it alone can tell
// whether an entry has been changed since.
func unreviewed(config, file string, f hookFile) []string {
	var known struct {
		Hooks struct {
			State map[string]struct {
				Hash string `toml:"trusted_hash"`
			} `toml:"state"`
		} `toml:"hooks"`
	}
	toml.DecodeFile(config, &known) // a file that is not there, or not understood, lists nothing
	var list []string
	files := []string{file}
	if real, err := filepath.EvalSymlinks(file); err == nil && real != file {
		files = append(files, real)
	}
	f.visit(func(event string, g, i int) {
		for _, file := range files {
			if known.Hooks.State[fmt.Sprintf("%s:%s:%d:%d", file, snakeCase(event), g, i)].Hash != "" {
				return
			}
		}
		list = append(list, event)
	})
	return list
}

// snakeCase turns SessionStart into session_start.
func snakeCase(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Waits returns how long an agent waits for the answer to a prompt: the shortest time
// that an entry of cairn's gives, of the user or in a project. 0 means that none is known.
func Waits(name string, places ...Places) (shortest time.Duration) {
	a, err := agentOf(name)
	if err != nil {
		return 0
	}
	for _, p := range places {
		data, err := os.ReadFile(a.settingsPath(p))
		if err != nil {
			continue
		}
		t, err := parseText(data)
		if err != nil {
			continue
		}
		if d := (hookFile{a, t}).waits(); d > 0 && (shortest == 0 || d < shortest) {
			shortest = d
		}
	}
	return shortest
}
