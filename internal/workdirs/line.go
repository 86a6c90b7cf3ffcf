package workdirs

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/known"
)

// option is how an agent takes directories on its command line.
type option struct {
	program string   // beginning of the program's name, and of a part of a script's path
	names   []string // of the option
	many    bool     // every word up to the next option is a directory
	commas  bool     // a word is a list
}

// Codex writes its directories into its record, where those of a server are found, too.
var options = map[string]option{
	known.Claude:  {program: "claude", names: []string{"--add-dir"}, many: true},
	known.Gemini:  {program: "gemini", names: []string{"--include-directories"}, commas: true},
	known.Qwen:    {program: "qwen", names: []string{"--include-directories", "--add-dir"}, many: true, commas: true},
	known.Copilot: {program: "copilot", names: []string{"--add-dir"}},
}

// onLine lists the directories on the command line of the nearest process that is the agent. An agent may
// have been started by another one, whose directories are not its own.
func (s *Sources) onLine() []string {
	opt, ok := options[s.Agent]
	if !ok || s.Lines == nil {
		return nil
	}
	for words := range s.Lines {
		if rest, ok := opt.after(words); ok {
			return opt.values(rest)
		}
	}
	return nil
}

// interpreters run an agent that is a script.
var interpreters = []string{"node", "nodejs", "bun", "deno"}

// after returns the words behind the program, if that is the agent.
func (o *option) after(words []string) (rest []string, ok bool) {
	if len(words) == 0 {
		return nil, false
	}
	name := programName(words[0])
	if name == o.program || strings.HasPrefix(name, o.program+"-") {
		return words[1:], true
	}
	if !slices.Contains(interpreters, name) {
		return nil, false
	}
	for i, word := range words[1:] {
		if !strings.HasPrefix(word, "-") {
			return words[i+2:], o.isScript(word)
		}
	}
	return nil, false
}

// isScript reports whether the path of a script is that of the agent: its package or its command has the name.
func (o *option) isScript(path string) bool {
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		name := programName(part)
		if name == o.program || strings.HasPrefix(name, o.program+"-") {
			return true
		}
	}
	return false
}

// programName is the name of a program without its directory and what follows a dot.
func programName(path string) string {
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		path = path[i+1:]
	}
	return strings.ToLower(strings.TrimSuffix(path, filepath.Ext(path)))
}

// values lists what the option has on a command line.
func (o *option) values(words []string) (dirs []string) {
	for i := 0; i < len(words) && words[i] != "--"; i++ {
		name, value, joined := strings.Cut(words[i], "=")
		switch {
		case !slices.Contains(o.names, name):
		case joined:
			dirs = o.add(dirs, value)
		default:
			for n := 0; i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") && (n == 0 || o.many); n++ {
				i++
				dirs = o.add(dirs, words[i])
			}
		}
	}
	return dirs
}

func (o *option) add(dirs []string, word string) []string {
	if !o.commas {
		return append(dirs, word)
	}
	for part := range strings.SplitSeq(word, ",") {
		dirs = append(dirs, strings.TrimSpace(part))
	}
	return dirs
}
