package setup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/integrations"
)

// Places are the directories in which agents keep their configuration.
type Places struct {
	Claude, Codex, Gemini, Qwen, OpenCode, Pi string // the user's

	// Project selects the configuration of a root; "" selects the user's.
	Project string
}

// agent describes the connection of an agent with cairn.
type agent struct {
	name  string
	title string // as its maker writes it
	dir   func(Places) string
	local string // its directory in a project

	// Agents with hooks have their entries in a settings file; in a project perhaps in another,
	// because an absolute path is of use to this user only.
	settings, localSettings string
	events                  []hookEvent
	millis                  bool   // timeouts are in milliseconds
	label                   string // name of the entries, for agents that show one

	files func(program []string) []file
	notes []string
}

// file is a file that setup makes as a whole.
type file struct {
	path string // below the agent's directory
	text string
}

const (
	patience = 30  // seconds that agents give a hook: more than a hook gives itself
	waited   = 600 // seconds where the user waits for the answer to a command
	farewell = 3   // seconds where the agent is about to end
)

// lifecycle lists the events of agents that speak as Claude Code does.
func lifecycle(matcher, afterTool string, more ...hookEvent) []hookEvent {
	return append([]hookEvent{
		{"SessionStart", "", patience}, {"UserPromptSubmit", "", waited}, {"PreToolUse", matcher, patience},
		{afterTool, "", patience}, {"Stop", "", patience},
	}, more...)
}

var agents = []*agent{
	{
		name: "claude-code", title: "Claude Code", dir: func(p Places) string { return p.Claude }, local: ".claude",
		settings: "settings.json", localSettings: "settings.local.json",
		events: lifecycle("*", "PostToolBatch", hookEvent{"SubagentStop", "", patience}, hookEvent{"SessionEnd", "", 10}),
		files:  slashCommands(claudeCommand),
		notes:  []string{"restart Claude Code: it reads hooks when it starts"},
	},
	{
		name: "codex", title: "Codex", dir: func(p Places) string { return p.Codex }, local: ".codex",
		settings: "hooks.json", localSettings: "hooks.json",
		events: lifecycle("", "PostToolUse", hookEvent{"SubagentStop", "", patience}, hookEvent{"Interrupt", "", farewell}, hookEvent{"SessionEnd", "", farewell}),
		notes: []string{
			"Codex runs only hooks that you trust: its terminal asks at the next start (\"Hooks need review\"), and /hooks shows them later; codex exec asks nothing and skips them without a word",
			"after an update that moves cairn, Codex asks again",
		},
	},
	{
		name: "gemini", title: "Gemini CLI", dir: func(p Places) string { return p.Gemini }, local: ".gemini",
		settings: "settings.json", localSettings: "settings.json", millis: true, label: "cairn",
		events: []hookEvent{
			{"SessionStart", "", patience}, {"BeforeAgent", "", waited}, {"BeforeTool", ".*", patience},
			{"AfterTool", ".*", patience}, {"AfterAgent", "", patience}, {"SessionEnd", "", farewell},
		},
		files: slashCommands(geminiCommand),
		notes: []string{"restart Gemini CLI; hooks in a project's own settings run only in folders that you trust"},
	},
	{
		name: "qwen", title: "Qwen Code", dir: func(p Places) string { return p.Qwen }, local: ".qwen",
		settings: "settings.json", localSettings: "settings.json", millis: true, label: "cairn",
		events: lifecycle(".*", "PostToolUse", hookEvent{"PostToolUseFailure", ".*", patience}, hookEvent{"SubagentStop", "", patience}, hookEvent{"SessionEnd", "", farewell}),
		files:  slashCommands(qwenCommand),
		notes:  []string{"restart Qwen Code: it reads hooks when it starts"},
	},
	{
		name: "opencode", title: "OpenCode", dir: func(p Places) string { return p.OpenCode }, local: ".opencode",
		files: adapter("plugins/cairn.ts", integrations.OpenCode),
		notes: []string{
			"restart OpenCode; with its first plugin it fetches @opencode-ai/plugin, which without a network takes a minute",
			"cairn takes the place of OpenCode's own snapshots while the plugin is there: its undo and redo stay, and cairn does the files",
		},
	},
	{
		name: "pi", title: "pi", dir: func(p Places) string { return p.Pi }, local: ".pi",
		files: adapter("extensions/cairn.ts", integrations.Pi),
		notes: []string{"restart pi, or type /reload; what lies in a project's own .pi runs only once you trust the project"},
	},
}

// Agents returns the names of the agents that can be set up.
func Agents() []string {
	names := make([]string, len(agents))
	for i, a := range agents {
		names[i] = a.name
	}
	return names
}

func agentOf(name string) (*agent, error) {
	if name == "claude" {
		name = "claude-code"
	}
	i := slices.IndexFunc(agents, func(a *agent) bool { return a.name == name })
	if i < 0 {
		return nil, fmt.Errorf("unknown agent %s: there are %s", name, strings.Join(Agents(), ", "))
	}
	return agents[i], nil
}

// home is the agent's directory, of the user or in a project.
func (a *agent) home(p Places) string {
	if p.Project != "" {
		return filepath.Join(p.Project, a.local)
	}
	return a.dir(p)
}

// settingsPath is the file with the agent's hooks, "" if it has none.
func (a *agent) settingsPath(p Places) string {
	name := a.settings
	if p.Project != "" {
		name = a.localSettings
	}
	if name == "" {
		return ""
	}
	return filepath.Join(a.home(p), name)
}
