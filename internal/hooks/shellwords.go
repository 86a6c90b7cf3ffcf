package hooks

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A shell command names paths among its words. What it does with them is not known, so
// each word that can be a path is looked at before and after the command. Words that a
// shell would work out (variables, substitutions) are passed over.

// shellWord is a word of a shell command.
type shellWord struct {
	text    string
	pattern bool // it holds *, ? or [ outside quotes
	opaque  bool // the shell works it out
	ends    bool // an operator that ends a simple command
	into    bool // an operator that writes to the file that the next word names
}

const maxShellWords = 500 // of a command

// shellWords splits a command as a POSIX shell does, as far as paths need that.
func shellWords(command string) []shellWord {
	var list []shellWord
	s := wordScanner{rest: command}
	for len(list) < maxShellWords {
		word, ok := s.next()
		if !ok {
			break
		}
		list = append(list, word)
	}
	return list
}

type wordScanner struct{ rest string }

func (s *wordScanner) next() (shellWord, bool) {
	s.rest = strings.TrimLeft(s.rest, " \t\r")
	switch {
	case s.rest == "":
		return shellWord{}, false
	case s.rest[0] == '<' || s.rest[0] == '>' || strings.HasPrefix(s.rest, "&>"):
		into := s.rest[0] != '<'
		s.rest = strings.TrimLeft(s.rest, "<>|&")
		return shellWord{opaque: true, into: into}, true // what follows is a word of its own
	case strings.IndexByte("\n;|&()", s.rest[0]) >= 0:
		s.rest = s.rest[1:]
		return shellWord{ends: true}, true
	case s.rest[0] == '#':
		_, after, _ := strings.Cut(s.rest, "\n")
		s.rest = after
		return shellWord{ends: true}, true
	}
	return s.word(), true
}

func (s *wordScanner) word() (w shellWord) {
	var text strings.Builder
	for s.rest != "" {
		c := s.rest[0]
		if strings.IndexByte(" \t\r\n;|&()<>", c) >= 0 {
			break
		}
		s.rest = s.rest[1:]
		switch {
		case c == '\'':
			inner, after, _ := strings.Cut(s.rest, "'")
			text.WriteString(inner)
			s.rest = after
		case c == '"':
			s.quoted(&w, &text)
		case c == '\\' && runtime.GOOS != "windows" && s.rest != "":
			text.WriteByte(s.rest[0])
			s.rest = s.rest[1:]
		default:
			w.opaque = w.opaque || c == '$' || c == '`'
			w.pattern = w.pattern || c == '*' || c == '?' || c == '['
			text.WriteByte(c)
		}
	}
	w.text = text.String()
	return w
}

// quoted reads to the end of double quotes.
func (s *wordScanner) quoted(w *shellWord, text *strings.Builder) {
	for s.rest != "" {
		c := s.rest[0]
		s.rest = s.rest[1:]
		switch {
		case c == '"':
			return
		case c == '\\' && s.rest != "" && strings.IndexByte("\"\\$`", s.rest[0]) >= 0:
			text.WriteByte(s.rest[0])
			s.rest = s.rest[1:]
			continue
		case c == '$' || c == '`':
			w.opaque = true
		}
		text.WriteByte(c)
	}
}

// removers are commands that delete or move what they name.
const removers = "rm rmdir unlink shred mv"

// writers are commands that write to what they name, beside the removers. Those that edit in place do so with -i.
const (
	writers = "cp tee touch truncate ln install rsync patch chmod sort gzip gunzip"
	editors = "sed perl ruby awk gawk"
)

// prefixes are words that may stand before the name of a command.
const prefixes = "sudo command env exec nice nohup time builtin then do else { !"

// mention is a path that a command names.
type mention struct {
	path   string
	remove bool // by a command that deletes or moves it
	writes bool // it may be written to or removed
}

// mentions lists the paths that a shell command may name, absolute. A cd counts for what
// follows it.
func mentions(dir, home, command string) (list []mention) {
	c := simpleCommand{}
	for _, w := range shellWords(command) {
		if !c.names(&w) {
			continue
		}
		path := inDir(dir, home, strings.TrimPrefix(w.text, c.prefix()))
		if c.name == "cd" {
			dir = path
			continue
		}
		remove := slices.Contains(strings.Fields(removers), c.name)
		for _, path := range expanded(path, w.pattern && remove) {
			list = append(list, mention{path, remove, remove || c.writes()})
		}
		c.into = false
	}
	return list
}

// simpleCommand is a command of a line, as far as its words have been read.
type simpleCommand struct {
	name    string
	inPlace bool // it has the option -i
	into    bool // the next word is a file to write to
}

// names reports whether a word may be a path that the command names.
func (c *simpleCommand) names(w *shellWord) bool {
	switch {
	case w.ends:
		*c = simpleCommand{}
	case w.into:
		c.into = true
	case w.opaque || w.text == "":
		c.into = false
	case c.into:
		return true
	case c.name == "" && (slices.Contains(strings.Fields(prefixes), w.text) || strings.Contains(w.text, "=")):
	case c.name == "":
		c.name = filepath.Base(w.text)
	case strings.HasPrefix(w.text, "-"):
		c.inPlace = c.inPlace || strings.HasPrefix(w.text, "-i") || w.text == "--in-place"
	default:
		return true
	}
	return false
}

// writes reports whether the command writes to the path that it names now.
func (c *simpleCommand) writes() bool {
	return c.into || slices.Contains(strings.Fields(writers), c.name) || c.inPlace && slices.Contains(strings.Fields(editors), c.name) || c.name == "dd"
}

// prefix stands before the path in a word.
func (c *simpleCommand) prefix() string {
	if c.name == "dd" {
		return "of="
	}
	return ""
}

// inDir makes a word absolute.
func inDir(dir, home, word string) string {
	if runtime.GOOS == "windows" {
		word = drivePath(word)
	}
	if rest, ok := strings.CutPrefix(word, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	if filepath.IsAbs(word) {
		return filepath.Clean(word)
	}
	return filepath.Join(dir, word)
}

// drivePath is a path as Windows has it: /c/dir, as Git Bash writes it, is c:/dir.
func drivePath(word string) string {
	if len(word) < 2 || word[0] != '/' || word[1]|0x20 < 'a' || word[1]|0x20 > 'z' || len(word) > 2 && word[2] != '/' {
		return word
	}
	return word[1:2] + ":/" + strings.TrimPrefix(word[2:], "/")
}

// expanded lists the names that a pattern matches now.
func expanded(path string, pattern bool) []string {
	if !pattern {
		return []string{path}
	}
	top := filepath.VolumeName(path) + string(filepath.Separator)
	g := globber{left: maxSeen}
	g.walk(top, strings.Split(strings.TrimPrefix(path, top), string(filepath.Separator)))
	return g.found
}

// globber finds what a pattern matches, as filepath.Glob does. It ends after so many names and directories: an
// agent waits for it.
type globber struct {
	found []string
	left  int // names and directories
}

func (g *globber) walk(dir string, parts []string) {
	if g.left <= 0 {
		return
	}
	if len(parts) == 0 {
		g.left--
		g.found = append(g.found, dir)
		return
	}
	if !strings.ContainsAny(parts[0], "*?[") {
		next := filepath.Join(dir, parts[0])
		if _, err := os.Lstat(next); err == nil {
			g.walk(next, parts[1:])
		}
		return
	}
	g.left--
	list, err := os.ReadDir(dir)
	if err != nil {
		return // a file, or nothing
	}
	for _, entry := range list {
		if ok, err := filepath.Match(parts[0], entry.Name()); err != nil {
			return
		} else if ok {
			g.walk(filepath.Join(dir, entry.Name()), parts[1:])
		}
	}
}
