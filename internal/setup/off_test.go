package setup

import (
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/known"
)

// TestSwitchedOff: the settings by which agents run no hooks are found, in the files of the user and of a project.
func TestSwitchedOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ agent, file, text, want string }{
		{known.Claude, "settings.json", "{\n  // for now\n  \"disableAllHooks\": true, // later\n}", "disableAllHooks"},
		{known.Claude, "settings.json", `{"disableAllHooks": false}`, ""},
		{known.Claude, "settings.json", `{"disableAllHooks": "true"`, ""},
		{known.Qwen, "settings.json", `{"disableAllHooks":true}`, "disableAllHooks"},
		{known.Gemini, "settings.json", `{"hooksConfig": {"enabled": false}}`, "hooksConfig.enabled"},
		{known.Gemini, "settings.json", `{"hooksConfig": {"enabled": true, "disabled": ["guard", "cairn"]}}`, "hooksConfig.disabled"},
		{known.Gemini, "settings.json", `{"hooksConfig": {"disabled": ["/usr/bin/cairn hook gemini"]}}`, "hooksConfig.disabled"},
		{known.Gemini, "settings.json", `{"hooksConfig": {"disabled": ["guard"]}, "disableAllHooks": true}`, ""},
		{known.Gemini, "settings.json", `{"hooksConfig": 1}`, ""},
		{known.Codex, "config.toml", "[features]\nhooks = false\n", "features.hooks"},
		{known.Codex, "config.toml", "features.codex_hooks = false\n", "features.codex_hooks"},
		{known.Codex, "config.toml", "[features]\nhooks = true\n", ""},
		{known.Codex, "config.toml", "features = 1", ""},
		{known.Droid, "settings.json", `{"disableAllHooks": true}`, ""},
	} {
		a, err := agentOf(c.agent)
		if err != nil {
			t.Fatal(err)
		}
		user, _ := places(t)
		project := user
		project.Project = t.TempDir()
		for _, p := range []Places{user, project} {
			file := filepath.Join(a.home(p), c.file)
			write(t, file, c.text)
			s := statusOf(t, p, c.agent)
			if s.Off != c.want || c.want != "" && s.OffFile != file {
				t.Errorf("%s with %s: %q in %q", c.agent, c.text, s.Off, s.OffFile)
			}
		}
	}
}
