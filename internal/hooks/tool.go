package hooks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/toolnames"
	"github.com/seed-fb9cbc17/cairn/session"
)

// readers are tools that change no file of the project. An unknown tool counts as one
// that changes files.
const readers = `
	read grep glob ls list webfetch websearch todowrite todoread notebookread bashoutput taskoutput
	exitplanmode enterplanmode askuserquestion toolsearch skill lsp view_image update_plan
	read_file read_many_files list_directory search_file_content grep_search glob_search web_fetch web_search
	view tree read_files search_codebase fetch_web_content ask_question read_image
	google_web_search save_memory todo_write write_todos ask_user codebase_investigator get_internal_docs`

// launchers are tools that only start a sub-agent, whose tools report themselves.
const launchers = "agent task spawn_agent"

func readsOnly(tool string) bool { return toolnames.Listed(readers, tool) }

func launchesAgent(tool string) bool { return toolnames.Listed(launchers, tool) }

// pathKeys are the names under which tools take a path.
var pathKeys = []string{
	"file_path", "filePath", "filepath", "path", "notebook_path", "notebookPath",
	"source", "destination", "old_path", "new_path", "oldPath", "newPath", "from", "to",
}

// patchKeys are the names under which apply_patch takes its text.
var patchKeys = []string{"command", "input", "patch", "patchText"}

// toolPaths lists the paths that an edit tool is going to change, absolute or, as it
// may have no directory to count from, as the tool names them. Shell commands name
// none: their changes are found by comparing two captures.
func toolPaths(dir, tool string, input json.RawMessage) []string {
	if !toolnames.Edits(tool) {
		return nil
	}
	paths := namedPaths(input)
	for i, path := range paths {
		if !filepath.IsAbs(path) && filepath.IsAbs(dir) {
			paths[i] = filepath.Join(dir, path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

func namedPaths(input json.RawMessage) []string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		var text string // apply_patch as a plain text
		if json.Unmarshal(input, &text) != nil {
			return nil
		}
		return patchPaths(text)
	}
	paths := fieldPaths(fields)
	for _, list := range []string{"edits", "files"} {
		var inner []map[string]json.RawMessage
		if json.Unmarshal(fields[list], &inner) == nil {
			for _, f := range inner {
				paths = append(paths, fieldPaths(f)...)
			}
		}
	}
	for _, key := range patchKeys {
		var text string
		if json.Unmarshal(fields[key], &text) == nil {
			paths = append(paths, patchPaths(text)...)
		}
	}
	return paths
}

func fieldPaths(fields map[string]json.RawMessage) []string {
	var paths []string
	for _, key := range pathKeys {
		var path string
		if json.Unmarshal(fields[key], &path) == nil && usablePath(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// patchPaths reads the headers of a patch as apply_patch takes it.
func patchPaths(patch string) []string {
	if !strings.Contains(patch, "*** Begin Patch") {
		return nil
	}
	var paths []string
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		for _, header := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "*** Move File: "} {
			path, ok := strings.CutPrefix(line, header)
			if !ok {
				continue
			}
			for _, path := range strings.Split(path, " -> ") {
				if path = strings.TrimSpace(path); usablePath(path) {
					paths = append(paths, path)
				}
			}
		}
	}
	return paths
}

// usablePath refuses a path that means the whole root, and a text that can be no path.
func usablePath(path string) bool {
	return strings.Trim(path, "./\\ ") != "" && len(path) <= 4096 && strings.IndexByte(path, 0) < 0
}

// commandKeys are the names under which tools take a command for a shell, as a text or as
// a list of words; the last one takes a list of commands.
var commandKeys = []string{"command", "cmd", "script", "commands"}

// shellCommand is the command that a tool gives to a shell, "" for other tools and for the
// text of a patch.
func shellCommand(tool string, input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if toolnames.Edits(tool) || json.Unmarshal(input, &fields) != nil {
		return ""
	}
	for _, key := range commandKeys {
		var text string
		var words []string
		if json.Unmarshal(fields[key], &text) == nil && text != "" {
			return longCommand(text)
		}
		if json.Unmarshal(fields[key], &words) != nil || len(words) == 0 {
			continue
		}
		if key == "commands" {
			return longCommand(strings.Join(words, "\n"))
		}
		if len(words) == 3 && (words[1] == "-c" || words[1] == "-lc") {
			return longCommand(words[2]) // a shell and its script
		}
		return longCommand(strings.Join(words, " "))
	}
	return ""
}

// longCommand is the part of a command in which paths and secrets are searched for. shortCommand is the
// part that is recorded.
func longCommand(text string) string  { return cutText(text, 4*session.MaxCommand) }
func shortCommand(text string) string { return cutText(text, session.MaxCommand) }

func cutText(text string, n int) string { return strings.ToValidUTF8(text[:min(len(text), n)], "") }

// callMeta is the record of a call of a tool.
func callMeta(tool, command string) map[string]string {
	meta := make(map[string]string)
	if tool != "" {
		meta[session.MetaTool] = shortCommand(tool)
	}
	if command != "" {
		meta[session.MetaCommand] = command
	}
	return meta
}

// leavesRunning reports whether a command goes on after its call has come back: the
// background commands of Claude Code, Gemini CLI, Qwen Code, Copilot CLI and Droid, and the
// sessions of Codex' shell. Those of Copilot CLI that only take long are known by shellLeft.
func leavesRunning(call toolCall) bool {
	var input struct {
		Claude bool `json:"run_in_background"`
		Gemini bool `json:"is_background"`
		Droid  bool `json:"fireAndForget"`

		Copilot string `json:"mode"`
	}
	var response string
	return json.Unmarshal(call.Input, &input) == nil && (input.Claude || input.Gemini || input.Droid || input.Copilot == "async") ||
		json.Unmarshal(call.Response, &response) == nil && strings.Contains(response, "Process running with session ID")
}

// Copilot CLI lets a command go on that takes half a minute, or beside which a prompt is typed. It says so in the
// call's result, and tells of the command's end with a prompt that it makes up.
const (
	goesOnText = `<command with shellId: (\w+) (?:is still running|moved to background)`
	endedText  = `^<system_notification>\s*Shell command .*\(shellId: (\w+)\)`
)

// shellLeft names the command that a call of Copilot CLI leaves running, "" for none that it names.
func shellLeft(call toolCall) string {
	var result struct {
		Text string `json:"text_result_for_llm"`
	}
	if json.Unmarshal(call.Result, &result) != nil || result.Text == "" {
		return ""
	}
	return firstGroup(goesOnText, result.Text)
}

// shellBack names the command whose end a prompt tells, "" for none.
func shellBack(prompt string) string { return firstGroup(endedText, prompt) }

// firstGroup compiles its pattern: one call of a hook needs it once at most, and most calls do not.
func firstGroup(pattern, text string) string {
	if m := regexp.MustCompile(pattern).FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// unnamed reports whether a call has a name made up by callKey, which a later call of the
// same tool with the same input has, too.
func unnamed(call string) bool { return call == "" || strings.HasPrefix(call, madeUp) }

const madeUp = "call-of-"

// callKey tells the calls of an agent apart that gives them no ids.
func callKey(call toolCall) string {
	sum := sha256.Sum256(append([]byte(call.Tool+"\x00"), call.Input...))
	return madeUp + hex.EncodeToString(sum[:8])
}
