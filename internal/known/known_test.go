package known

import (
	"slices"
	"testing"
)

// TestDir: where each agent keeps its configuration, for every system, without variables
// and with those that move it. The paths of the vendors' documents and of their programs.
func TestDir(t *testing.T) {
	t.Parallel()
	const unix, win = "/home/dev", `C:\Users\dev`
	for _, test := range []struct {
		agent, os string
		env       map[string]string
		want      string
	}{
		{Claude, "linux", nil, "/home/dev/.claude"},
		{Claude, "darwin", map[string]string{"CLAUDE_CONFIG_DIR": "/cfg/claude"}, "/cfg/claude"},
		{Claude, "windows", nil, `C:\Users\dev\.claude`},
		{Claude, "windows", map[string]string{"CLAUDE_CONFIG_DIR": `D:\claude`}, `D:\claude`},
		{Claude, "windows", map[string]string{"CLAUDE_CONFIG_DIR": `\claude`}, `C:\Users\dev\.claude`}, // of no drive
		{Claude, "linux", map[string]string{"CLAUDE_CONFIG_DIR": "relative"}, "/home/dev/.claude"},
		{Codex, "linux", map[string]string{"CODEX_HOME": "/cfg/codex"}, "/cfg/codex"},
		{Codex, "windows", nil, `C:\Users\dev\.codex`},
		{Gemini, "darwin", nil, "/home/dev/.gemini"},
		{Gemini, "linux", map[string]string{"GEMINI_CLI_HOME": "/cfg"}, "/cfg/.gemini"},
		{Qwen, "linux", map[string]string{"QWEN_HOME": "/cfg/qwen"}, "/cfg/qwen"},
		{Qwen, "windows", nil, `C:\Users\dev\.qwen`},
		{OpenCode, "linux", nil, "/home/dev/.config/opencode"},
		{OpenCode, "darwin", nil, "/home/dev/.config/opencode"},
		{OpenCode, "windows", nil, `C:\Users\dev\.config\opencode`},
		{OpenCode, "linux", map[string]string{"XDG_CONFIG_HOME": "/cfg"}, "/cfg/opencode"},
		{OpenCode, "linux", map[string]string{"XDG_CONFIG_HOME": "/cfg", "OPENCODE_CONFIG_DIR": "/oc"}, "/oc"},
		{Pi, "linux", map[string]string{"PI_CODING_AGENT_DIR": "/pi"}, "/pi"},
		{Pi, "windows", nil, `C:\Users\dev\.pi\agent`},
		{Kilo, "linux", nil, "/home/dev/.config/kilo"},
		{Kilo, "linux", map[string]string{"KILO_CONFIG_DIR": "/kilo"}, "/kilo"},
		{Kilo, "darwin", map[string]string{"XDG_CONFIG_HOME": "/cfg"}, "/cfg/kilo"},
		{Copilot, "linux", nil, "/home/dev/.copilot"},
		{Copilot, "windows", map[string]string{"COPILOT_HOME": `D:\cop`}, `D:\cop`},
		{Copilot, "linux", map[string]string{"XDG_CONFIG_HOME": "/cfg"}, "/home/dev/.copilot"},
		{Droid, "darwin", nil, "/home/dev/.factory"},
		{Droid, "linux", map[string]string{"FACTORY_HOME_OVERRIDE": "/f"}, "/f/.factory"},
		{Cline, "linux", map[string]string{"CLINE_DIR": "/c"}, "/c"},
		{Cline, "windows", nil, `C:\Users\dev\.cline`},
		{Cursor, "windows", nil, `C:\Users\dev\.cursor`},
		{Goose, "linux", nil, "/home/dev/.agents/plugins/cairn"},
		{Goose, "windows", nil, `C:\Users\dev\.agents\plugins\cairn`},
		{Crush, "linux", map[string]string{"XDG_CONFIG_HOME": "/cfg"}, "/cfg/crush"},
		{Crush, "windows", nil, `C:\Users\dev\.config\crush`},
		{Crush, "darwin", map[string]string{"CRUSH_GLOBAL_CONFIG": "/crush"}, "/crush"},
		{Amp, "darwin", nil, "/home/dev/.config/amp"},
		{Amp, "windows", nil, `C:\Users\dev\.config\amp`},
	} {
		a, found := Find(test.agent)
		if !found {
			t.Fatalf("%s is not known", test.agent)
		}
		s := System{OS: test.os, Home: unix, Env: func(name string) string { return test.env[name] }}
		if test.os == "windows" {
			s.Home = win
		}
		if got := s.Dir(a); got != test.want {
			t.Errorf("%s on %s with %v: %s, want %s", test.agent, test.os, test.env, got, test.want)
		}
	}
}

// TestData: an agent whose hooks lie in a directory that others use, too, is known by its own.
func TestData(t *testing.T) {
	t.Parallel()
	goose, _ := Find(Goose)
	for _, test := range []struct {
		os, home string
		env      map[string]string
		want     string
	}{
		{"linux", "/home/dev", nil, "/home/dev/.config/goose"},
		{"darwin", "/Users/dev", nil, "/Users/dev/.config/goose"},
		{"windows", `C:\Users\dev`, map[string]string{"APPDATA": `C:\Users\dev\AppData\Roaming`}, `C:\Users\dev\AppData\Roaming\Block\goose\config`},
	} {
		s := System{OS: test.os, Home: test.home, Env: func(name string) string { return test.env[name] }}
		if got := s.Data(goose); got != test.want {
			t.Errorf("%s: %s, want %s", test.os, got, test.want)
		}
	}
	codex, _ := Find(Codex)
	if s := (System{OS: "linux", Home: "/h", Env: func(string) string { return "" }}); s.Data(codex) != s.Dir(codex) {
		t.Error("codex is looked for elsewhere than in its configuration")
	}
}

// TestNoHome: without a home directory nothing is guessed.
func TestNoHome(t *testing.T) {
	t.Parallel()
	for _, a := range All() {
		s := System{OS: "linux", Env: func(string) string { return "" }}
		if dir := s.Dir(a); dir != "" {
			t.Errorf("%s: %s", a.Name, dir)
		}
		if a.Title == "" || a.Local == "" {
			t.Errorf("%s: %+v", a.Name, a)
		}
	}
	if len(Hooked()) >= len(Names()) || slices.Contains(Hooked(), Amp) {
		t.Errorf("with hooks: %q", Hooked())
	}
	if a, _ := Find("claude"); a.Name != Claude {
		t.Errorf("claude is %s", a.Name)
	}
}
