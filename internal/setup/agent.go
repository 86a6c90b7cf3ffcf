package setup

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-fb9cbc17/cairn/integrations"
	"github.com/seed-fb9cbc17/cairn/internal/known"
)

// Places are the directories in which agents keep their configuration.
type Places struct {
	Dirs map[string]string // the user's, by the names of the agents
	Data map[string]string // where it shows that an agent is there, if not in Dirs

	// Project selects the configuration of a root; "" selects the user's.
	Project string
}

// PlacesOn lists the directories of a system.
func PlacesOn(s known.System) Places {
	p := Places{Dirs: make(map[string]string), Data: make(map[string]string)}
	for _, a := range known.All() {
		p.Dirs[a.Name], p.Data[a.Name] = s.Dir(a), s.Data(a)
	}
	return p
}

// agent describes the connection of an agent with cairn.
type agent struct {
	known.Agent

	// Agents with hooks have their entries in a settings file; in a project perhaps in another,
	// because an absolute path is of use to this user only.
	settings, localSettings string
	form                    form
	events                  []hookEvent
	millis                  bool   // timeouts are in milliseconds
	label                   string // name of the entries, for agents that show one

	files  func(program []string) []file
	answer time.Duration // how long the agent waits where files hold its entries
	notes  []string
}

// file is a file that setup makes as a whole.
type file struct {
	path string // below the agent's directory
	text string
	mode fs.FileMode            // permissions beside those of every new file
	ours func(text string) bool // nil = a text with the marker is cairn's
}

func (f *file) isOurs(text string) bool {
	if f.ours != nil {
		return f.ours(text)
	}
	return strings.Contains(text, marker)
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

// agents lists the agents that setup can connect. The table is made when it is needed.
var agents = sync.OnceValue(func() []*agent {
	return []*agent{
		{
			Agent:    of(known.Claude),
			settings: "settings.json", localSettings: "settings.local.json",
			events: lifecycle("*", "PostToolBatch",
				hookEvent{"SubagentStop", "", patience}, hookEvent{"DirectoryAdded", "", patience}, hookEvent{"SessionEnd", "", 10}),
			files: slashCommands(claudeCommand),
			notes: []string{"restart Claude Code: it reads hooks when it starts"},
		},
		{
			Agent:    of(known.Codex),
			settings: "hooks.json", localSettings: "hooks.json",
			events: lifecycle("", "PostToolUse",
				hookEvent{"SubagentStop", "", patience}, hookEvent{"Interrupt", "", farewell}, hookEvent{"SessionEnd", "", farewell}),
			notes: []string{
				"Codex runs only hooks that you trust: its terminal asks at the next start (\"Hooks need review\")," +
					" and /hooks shows them later; codex exec asks nothing and skips them without a word",
				"after an update that moves cairn, Codex asks again",
			},
		},
		{
			Agent:    of(known.Gemini),
			settings: "settings.json", localSettings: "settings.json", millis: true, label: "cairn",
			events: []hookEvent{
				{"SessionStart", "", patience}, {"BeforeAgent", "", waited}, {"BeforeTool", ".*", patience},
				{"AfterTool", ".*", patience}, {"AfterAgent", "", patience}, {"SessionEnd", "", farewell},
			},
			files: slashCommands(geminiCommand),
			notes: []string{"restart Gemini CLI; hooks in a project's own settings run only in folders that you trust"},
		},
		{
			Agent:    of(known.Qwen),
			settings: "settings.json", localSettings: "settings.json", millis: true, label: "cairn",
			events: lifecycle(".*", "PostToolUse",
				hookEvent{"PostToolUseFailure", ".*", patience}, hookEvent{"SubagentStop", "", patience}, hookEvent{"SessionEnd", "", farewell}),
			files: slashCommands(qwenCommand),
			notes: []string{"restart Qwen Code: it reads hooks when it starts"},
		},
		{
			Agent: of(known.OpenCode),
			files: adapter("plugins/cairn.ts", integrations.OpenCode),
			notes: []string{
				"restart OpenCode; with its first plugin it fetches @opencode-ai/plugin, which without a network takes a minute",
				"cairn takes the place of OpenCode's own snapshots while the plugin is there: its undo and redo stay, and cairn does the files",
			},
		},
		{
			Agent: of(known.Pi),
			files: adapter("extensions/cairn.ts", integrations.Pi),
			notes: []string{"restart pi, or type /reload; what lies in a project's own .pi runs only once you trust the project"},
		},
		{
			Agent: of(known.Kilo),
			files: adapter("plugins/cairn.ts", strings.Replace(integrations.OpenCode, `["hook", "opencode"]`, `["hook", "kilo"]`, 1)),
			notes: []string{
				"restart Kilo CLI; with its first plugin it fetches @kilocode/plugin, which without a network takes a minute",
				"cairn takes the place of Kilo CLI's own snapshots while the plugin is there: its undo and redo stay, and cairn does the files",
			},
		},
		{
			Agent:  of(known.Copilot),
			files:  copilotFiles,
			answer: waited * time.Second,
			notes: []string{"restart Copilot CLI: it reads hooks when it starts; those in a repository's .github/hooks run only" +
				" in directories that you trust, and are not for a commit: they name a path of yours"},
		},
		{
			Agent:    of(known.Droid),
			settings: "settings.json", localSettings: "settings.local.json",
			events: lifecycle("*", "PostToolUse", hookEvent{"SubagentStop", "", patience}, hookEvent{"SessionEnd", "", 10}),
			notes:  []string{"restart Droid: it reads hooks when it starts"},
		},
		{
			Agent: of(known.Cline),
			files: clineFiles,
			notes: []string{
				"start a new session of Cline: a running one has read its hooks",
				"Cline's hooks cannot answer a prompt: take turns back in a shell, with cairn undo",
			},
		},
		{
			Agent:    of(known.Cursor),
			settings: "hooks.json", localSettings: "hooks.json", form: versioned,
			events: []hookEvent{
				{"sessionStart", "", patience}, {"beforeSubmitPrompt", "", waited}, {"preToolUse", "", patience}, {"postToolUse", "", patience},
				{"postToolUseFailure", "", patience}, {"stop", "", patience}, {"sessionEnd", "", farewell},
			},
			notes: []string{"restart Cursor; hooks in a project's own .cursor run only in workspaces that you trust"},
		},
		{
			Agent: of(known.Goose),
			files: gooseFiles,
			notes: []string{
				"start a new session of Goose: a running one has read its hooks",
				"Goose's hooks cannot answer a prompt: take turns back in a shell, with cairn undo",
			},
		},
		{
			Agent:    of(known.Crush),
			settings: "crush.json", localSettings: ".crush.json", form: flat, label: "cairn",
			events: []hookEvent{{"PreToolUse", "", patience}},
			notes: []string{
				"restart Crush: it reads hooks when it starts",
				"Crush tells only when a tool begins: each call of a tool is a turn of its own, and what you change before" +
					" the next one counts as the agent's; take them back in a shell, with cairn undo",
			},
		},
		{
			Agent:    of(known.Amp),
			settings: "settings.json", localSettings: "settings.json",
			notes: []string{
				"restart Amp; it asks before it runs a tool server of a project",
				"Amp can only ask cairn for checkpoints and undo: nothing is recorded by itself; cairn run -- amp records a session",
			},
		},
	}
})

// of returns an agent that is known, and panics for any other.
func of(name string) known.Agent {
	a, found := known.Find(name)
	if !found {
		panic("setup knows no agent " + name)
	}
	return a
}

func agentOf(name string) (*agent, error) {
	found, _ := known.Find(name)
	i := slices.IndexFunc(agents(), func(a *agent) bool { return a.Name == found.Name })
	if i < 0 {
		return nil, fmt.Errorf("unknown agent %s: there are %s", name, strings.Join(known.Names(), ", "))
	}
	return agents()[i], nil
}

// home is the agent's directory, of the user or in a project.
func (a *agent) home(p Places) string {
	if p.Project != "" {
		return filepath.Join(p.Project, filepath.FromSlash(a.Local))
	}
	return p.Dirs[a.Name]
}

// data is the directory that shows that the agent is there.
func (a *agent) data(p Places) string {
	if dir := p.Data[a.Name]; p.Project == "" && dir != "" {
		return dir
	}
	return a.home(p)
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
