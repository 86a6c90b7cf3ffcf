package setup

import (
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/known"
)

// The hooks of Copilot CLI, Goose and Cline lie in files of their own, which are cairn's as
// a whole.

// copilotFiles: names of events as Claude Code has them make Copilot CLI send what Claude
// Code sends.
func copilotFiles(program []string) []file {
	type entry struct {
		Type       string `json:"type"`
		Bash       string `json:"bash"`
		PowerShell string `json:"powershell"`
		Timeout    int    `json:"timeoutSec"`
		Comment    string `json:"comment"`
	}
	line := commandLine(program, known.Copilot)
	hooks := make(map[string][]entry)
	for _, e := range lifecycle("", "PostToolUse",
		hookEvent{"PostToolUseFailure", "", patience}, hookEvent{"SubagentStop", "", patience}, hookEvent{"SessionEnd", "", 10}) {
		hooks[e.name] = []entry{{"command", line, powerShell(program, known.Copilot), e.timeout, marker}}
	}
	return []file{{path: "hooks/cairn.json", text: document(struct {
		Version int                `json:"version"`
		Hooks   map[string][]entry `json:"hooks"`
	}{1, hooks})}}
}

// gooseFiles are a plugin. The file that names cairn comes first.
func gooseFiles(program []string) []file {
	line := commandLine(program, known.Goose)
	hooks := make(map[string][]group)
	for _, e := range lifecycle("", "PostToolUse", hookEvent{"PostToolUseFailure", "", patience}, hookEvent{"SessionEnd", "", farewell}) {
		hooks[e.name] = []group{{Hooks: []handler{{Type: "command", Command: line, Timeout: min(e.timeout, patience)}}}}
	}
	return []file{
		{path: "hooks/hooks.json", text: document(struct {
			Description string             `json:"description"`
			Hooks       map[string][]group `json:"hooks"`
		}{marker, hooks})},
		{path: "plugin.json", text: document(struct {
			Name        string `json:"name"`
			Version     string `json:"version"`
			Description string `json:"description"`
		}{"cairn", "1.0.0", "checkpoints and undo (" + marker + ")"})},
	}
}

// clineEvents are the names of Cline's scripts. It tells nothing else that concerns files.
var clineEvents = []string{"PreToolUse", "PostToolUse", "TaskStart", "TaskResume", "UserPromptSubmit", "TaskComplete", "TaskError", "TaskCancel", "SessionShutdown"}

// bom tells PowerShell 5 that a script is UTF-8.
const bom = "\ufeff"

// clineFiles are scripts, one for each event, in the language that Cline runs on the system.
func clineFiles(program []string) []file { return clineFilesOn(runtime.GOOS, program) }

func clineFilesOn(system string, program []string) (files []file) {
	for _, event := range clineEvents {
		text := fmt.Sprintf("#!/bin/sh\n# %s\nexec %s\n", marker, commandLine(program, known.Cline))
		f := file{path: "hooks/" + event, mode: 0o100, text: text}
		if system == "windows" {
			f.path, f.mode = f.path+".ps1", 0
			f.text = fmt.Sprintf(bom+"# %s\r\n"+
				"[Console]::InputEncoding = [Console]::OutputEncoding = $OutputEncoding = [Text.UTF8Encoding]::new($false)\r\n"+
				"[Console]::In.ReadToEnd() | %s\r\n", marker, powerShell(program, known.Cline))
		}
		files = append(files, f)
	}
	return files
}

// document is a JSON file for people.
func document(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		panic(err) // of strings and numbers
	}
	return b.String()
}

// powerShell is the command that runs cairn in PowerShell.
func powerShell(program []string, agent string) string {
	line := "&"
	for _, word := range append(append([]string{}, program...), "hook", agent) {
		if word == "" || strings.Trim(word, plain) != "" {
			word = "'" + strings.ReplaceAll(word, "'", "''") + "'"
		}
		line += " " + word
	}
	return line
}

// quotedText matches a string of JSON. It is compiled when it is needed, as programPattern.
var quotedText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(?:[^"\\]|\\.)*"`) })

// commandIn returns the program of the first command line in a script or in a JSON file that
// calls the hook of an agent.
func commandIn(text, agent string) []string {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if _, after, found := strings.Cut(line, "| & "); found {
			line = strings.ReplaceAll(after, "''", `'\''`) // as a POSIX shell quotes
		}
		if program := ours(strings.TrimPrefix(line, "exec "), agent); program != nil {
			return program
		}
		for _, quoted := range quotedText().FindAllString(line, -1) {
			var value string
			if json.Unmarshal([]byte(quoted), &value) == nil && ours(value, agent) != nil {
				return ours(value, agent)
			}
		}
	}
	return nil
}
