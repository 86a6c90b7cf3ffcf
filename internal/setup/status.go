package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode"

	"github.com/BurntSushi/toml"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/known"
)

// Status tells whether and how an agent is connected with cairn.
type Status struct {
	Agent string // as cairn setup takes it
	Title string // for people
	Found bool   // the agent keeps its configuration here
	File  string // with cairn's entries, or the adapter
	Err   error  // File cannot be understood
	Named bool   // File has the word cairn, also where it cannot be understood

	Tools bool // the agent calls cairn as a server of tools, and no hooks

	SetUp    bool
	Complete bool     // nothing is missing that this version would add
	Program  []string // how the entries start cairn
	Unfit    string   // why that program cannot be run, "" if it can

	Off     string // the setting by which the agent runs no hook, "" for none
	OffFile string // where that is

	// Unreviewed lists the events whose entries Codex skips, because its configuration
	// does not know that the user has reviewed them, or has them switched off. It may keep
	// that elsewhere in another version.
	Unreviewed []string
}

// Statuses finds out how each agent on this machine is set up.
func Statuses(p Places) []Status {
	var list []Status
	for _, a := range agents() {
		if a.home(p) != "" {
			list = append(list, a.status(p))
		}
	}
	return list
}

func (a *agent) status(p Places) Status {
	s := Status{Agent: a.Name, Title: a.Title, Tools: a.Tools}
	if s.Found = isDir(a.data(p)) || isDir(a.home(p)); !s.Found {
		return s
	}
	if s.File = a.settingsPath(p); s.File != "" {
		a.checkSettings(p, &s)
	} else {
		a.checkAdapter(p, &s)
	}
	if s.SetUp && filepath.IsAbs(s.Program[0]) {
		s.Unfit = unfit(s.Program[0])
	}
	s.Off, s.OffFile = a.switchedOff(p)
	return s
}

// unfit says why a program cannot be run, "" if it can.
func unfit(path string) string {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "is not there"
	case err != nil:
		return "cannot be reached"
	case !info.Mode().IsRegular():
		return "is no program"
	case info.Mode()&0o111 == 0 && runtime.GOOS != "windows":
		return "is not executable"
	}
	return ""
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (a *agent) checkSettings(p Places, s *Status) {
	data, err := atomicfile.Read(s.File)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	s.Named = bytes.Contains(data, []byte("cairn"))
	var t *text
	if err == nil {
		t, err = parseText(data)
	}
	if err != nil {
		s.Err = err
		return
	}
	s.Program, s.Complete = a.open(t).program()
	s.SetUp = s.Program != nil
	if s.SetUp && a.Name == known.Codex {
		s.Unreviewed = unreviewed(a.configuration(p), s.File, hookFile{a, t})
	}
}

// checkAdapter looks at the files that are cairn's as a whole. The first one names cairn.
func (a *agent) checkAdapter(p Places, s *Status) {
	complete := true
	for i, f := range a.files([]string{"cairn"}) {
		path := filepath.Join(a.home(p), filepath.FromSlash(f.path))
		data, err := atomicfile.Read(path)
		if info, serr := os.Stat(path); serr == nil && info.Mode()&f.mode != f.mode {
			complete = false
		}
		switch {
		case i == 0:
			s.File = path
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				s.Err = err
			}
			if err != nil || !f.isOurs(string(data)) {
				return
			}
			s.Program = programIn(string(data), a.Name)
			s.SetUp = s.Program != nil
			complete = complete && a.asMade(f.path, string(data))
		case err != nil || !f.isOurs(string(data)):
			complete = false
		}
	}
	s.Complete = s.SetUp && complete
}

// configuration is the file in which Codex lists the hooks that the user trusts. It is "" where the directory is not known.
func (a *agent) configuration(p Places) string {
	if p.Dirs[a.Name] == "" {
		return ""
	}
	return filepath.Join(p.Dirs[a.Name], "config.toml")
}

// unreviewed reads Codex' list of hooks that the user has trusted. It names them by
// file, event, and position. Codex also keeps a hash, by which it alone can tell
// whether an entry has been changed since.
func unreviewed(config, file string, f hookFile) []string {
	var known struct {
		Hooks struct {
			State map[string]struct {
				Hash    string `toml:"trusted_hash"`
				Enabled *bool  `toml:"enabled"`
			} `toml:"state"`
		} `toml:"hooks"`
	}
	data, _ := atomicfile.Read(config)
	toml.Decode(string(data), &known) // a file that is not there, or not understood, lists nothing
	var list []string
	files := []string{file}
	if real, err := filepath.EvalSymlinks(file); err == nil && real != file {
		files = append(files, real)
	}
	f.visit(func(event string, g, i int) {
		for _, file := range files {
			state := known.Hooks.State[fmt.Sprintf("%s:%s:%d:%d", file, snakeCase(event), g, i)]
			if state.Hash != "" && (state.Enabled == nil || *state.Enabled) {
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
		if d := a.waitsIn(p); d > 0 && (shortest == 0 || d < shortest) {
			shortest = d
		}
	}
	return shortest
}

func (a *agent) waitsIn(p Places) time.Duration {
	path := a.settingsPath(p)
	if path == "" {
		var s Status
		if a.answer > 0 {
			a.checkAdapter(p, &s)
		}
		if s.SetUp {
			return a.answer
		}
		return 0
	}
	data, err := atomicfile.Read(path)
	if err != nil {
		return 0
	}
	t, err := parseText(data)
	if err != nil {
		return 0
	}
	return a.open(t).waits()
}
