package setup

import (
	"path/filepath"
	"slices"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/known"
)

// switchedOff names the setting by which an agent runs no hook of cairn, and the file that it is in, "" for none.
func (a *agent) switchedOff(p Places) (setting, file string) {
	if a.Name == known.Codex {
		file = filepath.Join(a.home(p), "config.toml")
		return codexOff(file), file
	}
	for _, file := range a.settingsFiles(p) {
		data, err := atomicfile.Read(file)
		if err != nil {
			continue
		}
		if t, err := parseText(data); err == nil {
			if setting := a.offIn(&t.root); setting != "" {
				return setting, file
			}
		}
	}
	return "", ""
}

// settingsFiles are the files in which an agent looks for settings: in a project the one that is for all, too.
func (a *agent) settingsFiles(p Places) (files []string) {
	path := a.settingsPath(p)
	if path == "" {
		return nil
	}
	if p.Project != "" && a.settings != a.localSettings {
		files = append(files, filepath.Join(a.home(p), a.settings))
	}
	return append(files, path)
}

func (a *agent) offIn(root *hujson.Value) string {
	switch a.Name {
	case known.Claude, known.Qwen:
		if v, _ := member(root, "disableAllHooks"); isLiteral(v, "true") {
			return "disableAllHooks"
		}
	case known.Gemini:
		all, _ := member(root, "hooksConfig")
		if all == nil {
			return ""
		}
		if v, _ := member(all, "enabled"); isLiteral(v, "false") {
			return "hooksConfig.enabled"
		}
		if list, _ := member(all, "disabled"); list != nil && slices.ContainsFunc(elements(list), a.names) {
			return "hooksConfig.disabled"
		}
	}
	return ""
}

// isLiteral reports whether a value is there and is a literal with a text.
func isLiteral(v *hujson.Value, text string) bool {
	if v == nil {
		return false
	}
	lit, ok := v.Value.(hujson.Literal)
	return ok && string(lit) == text
}

// names reports whether an element of a list is cairn's hook, by its label or by its command.
func (a *agent) names(e hujson.ArrayElement) bool {
	name := literal(&e)
	return name == a.label || ours(name, a.Name) != nil
}

// codexOff is the setting by which Codex runs no hooks, "" for none. An older name of it still counts.
func codexOff(file string) string {
	var config struct {
		Features map[string]any `toml:"features"`
	}
	data, _ := atomicfile.Read(file)
	toml.Decode(string(data), &config) // a file that is not there, or not understood, switches nothing off
	for _, name := range []string{"hooks", "codex_hooks"} {
		if config.Features[name] == false {
			return "features." + name
		}
	}
	return ""
}
