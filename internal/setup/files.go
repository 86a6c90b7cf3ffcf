package setup

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/seed-fb9cbc17/cairn/integrations"
)

// marker is in every file that setup makes as a whole. A file without it is not cairn's.
const marker = "made by cairn setup"

// slashCommand is a command that hooks carry out before the model sees it.
type slashCommand struct{ verb, short string }

var slashCommandList = []slashCommand{
	{"undo", "take back what the last turn changed in the files (cairn)"},
	{"redo", "bring back what cairn-undo took back"},
	{"log", "list the turns of this session that changed files (cairn)"},
	{"diff", "list what the last turn changed (cairn)"},
}

func slashCommands(form func(slashCommand) (ext, text string)) func([]string) []file {
	return func([]string) []file {
		var files []file
		for _, c := range slashCommandList {
			ext, text := form(c)
			files = append(files, file{path: "commands/cairn-" + c.verb + ext, text: text})
		}
		return files
	}
}

// unheard is the text of the command for the model, which reads it if no hook has
// caught the command.
const unheard = "If you read this, cairn's hook did not run. Do nothing, and tell the user to run: cairn doctor"

// claudeCommand: Claude Code shows the hook the command as it was typed.
func claudeCommand(c slashCommand) (ext, text string) {
	return ".md", fmt.Sprintf("---\ndescription: %s\norigin: %s\n---\n\n%s.\n", c.short, marker, unheard)
}

// qwenCommand and geminiCommand: the hook gets the expanded text of the command, which
// is the prompt with the same effect.
func qwenCommand(c slashCommand) (ext, text string) {
	return ".md", fmt.Sprintf("---\ndescription: %s\norigin: %s\n---\ncairn %s {{args}}\n", c.short, marker, c.verb)
}

func geminiCommand(c slashCommand) (ext, text string) {
	return ".toml", fmt.Sprintf("# %s\ndescription = %q\nprompt = \"cairn %s {{args}}\"\n", marker, c.short, c.verb)
}

// adapter is a program that the agent loads. It is told where cairn is, and with which options to call it.
func adapter(path, source string) func([]string) []file {
	return func(program []string) []file {
		return []file{{path: path, text: "// " + marker + "; cairn setup --remove takes it away\n" +
			strings.NewReplacer(integrations.Program, programExpression(program[0]), integrations.Options, optionsOf(program[1:])).Replace(source)}}
	}
}

// programExpression and optionsOf are JavaScript.
func programExpression(file string) string {
	quoted, _ := json.Marshal(file)
	return strings.TrimSuffix(integrations.Program, `"cairn"`) + string(quoted)
}

func optionsOf(words []string) string {
	quoted, _ := json.Marshal(append([]string{}, words...))
	return strings.TrimSuffix(integrations.Options, "[]") + string(quoted)
}

// programPattern and optionsPattern find what programExpression and optionsOf make. They are compiled when they are
// needed, because compiling them at the start would slow every command.
var (
	programPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(regexp.QuoteMeta(strings.TrimSuffix(integrations.Program, `"cairn"`)) + `("(?:[^"\\]|\\.)*")`)
	})
	optionsPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(regexp.QuoteMeta(strings.TrimSuffix(integrations.Options, "[]")) + `(\[(?:"(?:[^"\\]|\\.)*"|,)*\])`)
	})
)

// programIn returns the program that a file was made for, nil if it names none.
func programIn(text, agent string) []string {
	found := programPattern().FindStringSubmatch(text)
	if found == nil {
		return commandIn(text, agent)
	}
	var program string
	if json.Unmarshal([]byte(found[1]), &program) != nil {
		return nil
	}
	var options []string
	if found := optionsPattern().FindStringSubmatch(text); found != nil && json.Unmarshal([]byte(found[1]), &options) != nil {
		return nil
	}
	return append([]string{program}, options...)
}

// asMade reports whether a file is as setup makes it, for whatever path of cairn.
func (a *agent) asMade(path, now string) bool {
	now, _ = bare(now)
	program := programIn(now, a.Name)
	if program == nil {
		program = []string{"cairn"}
	}
	for _, f := range a.files(program) {
		if f.path == path {
			return f.text == now
		}
	}
	return false
}
