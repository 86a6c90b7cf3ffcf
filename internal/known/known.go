// Package known lists the coding agents that cairn connects with: how they are named, how
// they tell what they do, and where each keeps its configuration on every system.
package known

import "slices"

// The names, as cairn setup and cairn hook take them.
const (
	Claude   = "claude-code"
	Codex    = "codex"
	Gemini   = "gemini"
	Qwen     = "qwen"
	OpenCode = "opencode"
	Pi       = "pi"
	Kilo     = "kilo"
	Copilot  = "copilot"
	Droid    = "droid"
	Cline    = "cline"
	Cursor   = "cursor"
	Goose    = "goose"
	Crush    = "crush"
	Amp      = "amp"
)

// Agent is a coding agent.
type Agent struct {
	Name  string
	Title string // as its maker writes it
	Also  string // another name for it, "" for none

	// Speaks: its hooks send JSON of their own. Every other agent with hooks has an adapter that
	// speaks the neutral protocol.
	Speaks bool

	// Tools only: it has no hooks that cairn uses, and calls cairn as a server of tools.
	Tools bool

	Project string // variable that names the project to its hooks, "" for none
	Local   string // its directory in a project, with slashes; "." for the project itself

	dirs []candidate // of the user's configuration, best first
	data []candidate // where it shows that the agent is there, if not in dirs
}

var agents = []Agent{
	{Name: Claude, Title: "Claude Code", Also: "claude", Speaks: true, Project: "CLAUDE_PROJECT_DIR", Local: ".claude",
		dirs: []candidate{{variable: "CLAUDE_CONFIG_DIR"}, {below: ".claude"}}},
	{Name: Codex, Title: "Codex", Speaks: true, Local: ".codex",
		dirs: []candidate{{variable: "CODEX_HOME"}, {below: ".codex"}}},
	{Name: Gemini, Title: "Gemini CLI", Speaks: true, Project: "GEMINI_PROJECT_DIR", Local: ".gemini",
		dirs: []candidate{{variable: "GEMINI_CLI_HOME", below: ".gemini"}, {below: ".gemini"}}},
	{Name: Qwen, Title: "Qwen Code", Speaks: true, Project: "CLAUDE_PROJECT_DIR", Local: ".qwen",
		dirs: []candidate{{variable: "QWEN_HOME"}, {below: ".qwen"}}},
	{Name: OpenCode, Title: "OpenCode", Local: ".opencode",
		dirs: []candidate{{variable: "OPENCODE_CONFIG_DIR"}, {variable: "XDG_CONFIG_HOME", below: "opencode"}, {below: ".config/opencode"}}},
	{Name: Pi, Title: "pi", Local: ".pi",
		dirs: []candidate{{variable: "PI_CODING_AGENT_DIR"}, {below: ".pi/agent"}}},
	{Name: Kilo, Title: "Kilo CLI", Local: ".kilo",
		dirs: []candidate{{variable: "KILO_CONFIG_DIR"}, {variable: "XDG_CONFIG_HOME", below: "kilo"}, {below: ".config/kilo"}}},
	{Name: Copilot, Title: "Copilot CLI", Speaks: true, Project: "COPILOT_PROJECT_DIR", Local: ".github",
		dirs: []candidate{{variable: "COPILOT_HOME"}, {below: ".copilot"}}},
	{Name: Droid, Title: "Droid", Speaks: true, Project: "FACTORY_PROJECT_DIR", Local: ".factory",
		dirs: []candidate{{variable: "FACTORY_HOME_OVERRIDE", below: ".factory"}, {below: ".factory"}}},
	{Name: Cline, Title: "Cline", Speaks: true, Local: ".clinerules", // which its editor extension reads, too
		dirs: []candidate{{variable: "CLINE_DIR"}, {below: ".cline"}}},
	{Name: Cursor, Title: "Cursor", Speaks: true, Project: "CURSOR_PROJECT_DIR", Local: ".cursor",
		dirs: []candidate{{below: ".cursor"}}},
	{Name: Goose, Title: "Goose", Speaks: true, Local: ".agents/plugins/cairn",
		dirs: []candidate{{below: ".agents/plugins/cairn"}},
		data: []candidate{
			{system: "windows", variable: "APPDATA", below: "Block/goose/config"},
			{variable: "XDG_CONFIG_HOME", below: "goose"}, {below: ".config/goose"},
		}},
	{Name: Crush, Title: "Crush", Speaks: true, Project: "CRUSH_PROJECT_DIR", Local: ".",
		dirs: []candidate{{variable: "CRUSH_GLOBAL_CONFIG"}, {variable: "XDG_CONFIG_HOME", below: "crush"}, {below: ".config/crush"}}},
	{Name: Amp, Title: "Amp", Tools: true, Local: ".amp",
		dirs: []candidate{{below: ".config/amp"}}},
}

// All lists the agents in the order in which they are shown.
func All() []Agent { return slices.Clone(agents) }

// Names lists the names of all agents that can be set up.
func Names() []string {
	names := make([]string, len(agents))
	for i := range agents {
		names[i] = agents[i].Name
	}
	return names
}

// Hooked lists the names of the agents that call cairn hook.
func Hooked() (names []string) {
	for i := range agents {
		if !agents[i].Tools {
			names = append(names, agents[i].Name)
		}
	}
	return names
}

// Find returns the agent of a name.
func Find(name string) (Agent, bool) {
	for i := range agents {
		if agents[i].Name == name || agents[i].Also != "" && agents[i].Also == name {
			return agents[i], true
		}
	}
	return Agent{}, false
}
