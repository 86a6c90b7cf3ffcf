package pager

import (
	"path"
	"slices"
	"strings"
)

// Lookup is how a variable of the environment is read. One that is set to nothing is not one that
// is not set.
type Lookup func(name string) (value string, set bool)

// Own is the variable of this program. It counts before PAGER.
const Own = "CAIRN_PAGER"

// Default is the pager without a choice.
const Default = "less"

// Choose returns the command of the pager, "" for none. The first of CAIRN_PAGER and PAGER that is
// set counts, as GIT_PAGER and PAGER do in git. Nothing and cat stand for no pager.
func Choose(env Lookup) string {
	command := Default
	for _, name := range []string{Own, "PAGER"} {
		if value, set := env(name); set {
			command = value
			break
		}
	}
	if command == "cat" {
		return ""
	}
	return command
}

// agents are variables that coding agents set for the commands that they run. Some agents run
// commands on a terminal of their own, where a pager would wait for keys that no person presses.
var agents = []string{
	"AI_AGENT", "CLAUDECODE", "CLINE_ACTIVE", "CODEX_CI", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID",
	"CURSOR_AGENT", "GEMINI_CLI", "OPENCODE", "PI_CODING_AGENT", "QWEN_CODE", "VSCODE_AGENT",
}

// InAgent reports whether a coding agent has started this process.
func InAgent(env Lookup) bool {
	return slices.ContainsFunc(agents, func(name string) bool {
		value, _ := env(name)
		return value != ""
	})
}

// defaults are variables that a pager gets where they are not set, as git has them: less ends by
// itself if all fits on the screen, lets colours through and leaves the text there.
var defaults = []string{"LESS=FRX", "LV=-c"}

// Environ returns the variables of a pager, from those of this process.
func Environ(own []string) []string {
	out := slices.Clone(own)
	for _, d := range defaults {
		name, _, _ := strings.Cut(d, "=")
		if !slices.ContainsFunc(own, func(v string) bool { return strings.HasPrefix(v, name+"=") }) {
			out = append(out, d)
		}
	}
	return out
}

// meta are the characters for which git leaves a command to a shell.
const meta = "|&;<>()$`\\\"' \t\n*?[#~=%"

// argv is the command line of a pager.
func argv(command string) []string {
	if strings.ContainsAny(command, meta) {
		return append(slices.Clone(shell), command)
	}
	return []string{command}
}

// firstLess is the first version of less that lets hyperlinks through.
const firstLess = 566

// ShowsLinks reports whether a pager shows hyperlinks: a less of today that lets control sequences
// through. It asks the program for its version.
func ShowsLinks(command string, env Lookup) bool {
	name, options, _ := strings.Cut(command, " ")
	if more, set := env("LESS"); path.Base(name) != "less" || set && !strings.ContainsAny(more+options, "Rr") {
		return false
	}
	return versionOf(name) >= firstLess
}
