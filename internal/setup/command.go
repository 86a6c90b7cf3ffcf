package setup

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/known"
)

// commandLine is the shell command that runs cairn. It has the absolute path of the
// program, because agents do not always have the user's PATH.
func commandLine(program []string, agent string) string {
	words := append(append([]string{}, program...), "hook", agent)
	for i, word := range words {
		words[i] = quoteWord(word)
	}
	line := strings.Join(words, " ")
	if slices.Contains(inPowerShell, agent) && onWindows(program[0]) && strings.ContainsAny(line[:1], `"'`) {
		return called + line
	}
	return line
}

// inPowerShell are the agents that run hooks in PowerShell on Windows.
var inPowerShell = []string{known.Codex, known.Gemini, known.Cursor}

// called stands before a program in quotes that PowerShell is to run.
const called = "& "

const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:@%,="

// plainOnWindows are the characters that mean themselves to cmd.exe and to PowerShell, too.
const plainOnWindows = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+./:"

// quoteWord quotes for a POSIX shell. A Windows path gets slashes and no quotes if it can: sh, cmd.exe
// and PowerShell all run C:/dir/cairn.exe, and PowerShell takes a first word in quotes for a text. Any
// other word with backslashes goes into double quotes: there it means the same to sh and to cmd.exe. But sh
// reads two backslashes as one, and one at the end as a part of the quote: such a path gets slashes, too.
func quoteWord(word string) string {
	if path := strings.ReplaceAll(word, `\`, "/"); onDrive(word) && strings.Trim(path, plainOnWindows) == "" {
		return path
	}
	switch {
	case word != "" && strings.Trim(word, plain) == "":
		return word
	case !strings.ContainsRune(word, '\\') || strings.ContainsAny(word, "\"$`"):
	case !strings.Contains(word, `\\`) && !strings.HasSuffix(word, `\`):
		return `"` + word + `"`
	case onWindows(word):
		return `"` + strings.ReplaceAll(word, `\`, "/") + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// onDrive reports whether a word is an absolute path of Windows on a drive, with backslashes.
func onDrive(word string) bool {
	return len(word) >= 3 && word[1] == ':' && word[2] == '\\' && (word[0]|0x20 >= 'a' && word[0]|0x20 <= 'z')
}

// onWindows reports whether a word is an absolute path of Windows, on a drive or in a share.
func onWindows(word string) bool { return onDrive(word) || strings.HasPrefix(word, `\\`) }

// splitWords splits a command line of words that quoteWord has quoted. It returns nil
// if the line has any other syntax of a shell.
func splitWords(line string) []string {
	var words []string
	var word strings.Builder
	inWord := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		case '\'', '"':
			end := strings.IndexByte(line[i+1:], c)
			if end < 0 {
				return nil
			}
			word.WriteString(line[i+1 : i+1+end])
			i, inWord = i+1+end, true
		case '\\':
			if i+1 == len(line) {
				return nil
			}
			i++
			word.WriteByte(line[i])
			inWord = true
		case '$', '`', ';', '|', '&', '<', '>', '(', ')', '\n':
			return nil
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}

// ours returns the program and its options if a command line calls the hook of cairn
// for an agent, wherever the program lies.
func ours(line, agent string) (program []string) {
	words := splitWords(strings.TrimPrefix(line[len(variables(line)):], called))
	n := len(words)
	if n < 3 || words[n-2] != "hook" || words[n-1] != agent {
		return nil
	}
	if !named(words[0]) {
		return nil
	}
	return words[:n-2]
}

// assignments matches the variables that a user has set for a command, before its program. It is compiled when it is
// needed, because every start of the program would pay for it.
var assignments = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^(?:[A-Za-z_][A-Za-z0-9_]*=(?:[^\\s'\"\\\\$`;|&<>()]|'[^']*'|\"[^\"\\\\$`]*\")*[ \t]+)+")
})

// variables is the part of a command line that sets variables for the program.
func variables(line string) string { return assignments().FindString(line) }

// named reports whether the file of a program has cairn in its name.
func named(program string) bool {
	return strings.Contains(strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:]), "cairn")
}
