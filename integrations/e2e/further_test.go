//go:build linux

package e2e

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// kiloAgent returns a sandbox with Kilo CLI, which is made from OpenCode, and its program.
func kiloAgent(t *testing.T, plugin bool) (*sandbox, string) {
	t.Helper()
	modules := install(t, "kilo", kiloPackage)
	s := newSandbox(t)
	s.env = append(s.env, "KILO_DISABLE_AUTOUPDATE=1", "KILO_DISABLE_MODELS_FETCH=1", "KILO_DISABLE_LSP_DOWNLOAD=1", "KILO_DISABLE_DEFAULT_PLUGINS=1",
		"KILO_DISABLE_SESSION_INGEST=1", "KILO_TELEMETRY_LEVEL=off")
	s.openConfig(".config/kilo/kilo.json")
	if plugin {
		s.cairn("setup", "kilo")
		s.pretendInstalled(".config/kilo", "@kilocode/plugin", "7.7.9")
	}
	return s, filepath.Join(modules, "@kilocode", "cli-linux-x64", "bin", "kilo")
}

// TestKiloUndo: Kilo CLI's own undo and redo bring the files along, as OpenCode's do.
func TestKiloUndo(t *testing.T) {
	needTier(t, 2)
	o := startKilo(t, true)
	o.begin().undoAndRedo()
	if got := o.agents(); !slices.Equal(got, []string{"kilo"}) {
		t.Errorf("the sessions are those of %q", got)
	}
}

func startKilo(t *testing.T, plugin bool) *opencode {
	t.Helper()
	s, program := kiloAgent(t, plugin)
	return startServer(t, s, program)
}

// TestKiloWithoutCairn shows that the scenario is one in which Kilo CLI's own undo loses work.
func TestKiloWithoutCairn(t *testing.T) {
	needTier(t, 2)
	startKilo(t, false).losesWork()
}

// copilotAgent returns a sandbox with Copilot CLI and a model of one's own, which needs no account.
func copilotAgent(t *testing.T) (*sandbox, []string) {
	t.Helper()
	modules := install(t, "copilot", copilotPackage)
	s := newSandbox(t)
	s.env = append(s.env, "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL="+s.model+"/v1", "COPILOT_PROVIDER_API_KEY=made-up", "COPILOT_MODEL=fake",
		"COPILOT_ALLOW_ALL=true", "COPILOT_AUTO_UPDATE=false")
	s.cairn("setup", "copilot")
	return s, []string{filepath.Join(modules, "@github", "copilot-linux-x64", "copilot"), "--allow-all-tools"}
}

func copilot(t *testing.T) *talker {
	t.Helper()
	s, argv := copilotAgent(t)
	begun := false
	return &talker{sandbox: s, abs: true, say: func(prompt string) output {
		args := argv[:len(argv):len(argv)]
		if begun {
			args = append(args, "--continue")
		}
		begun = true
		return s.run("", append(args, "-p", prompt)...)
	}}
}

func TestCopilotUndo(t *testing.T) {
	needTier(t, 2)
	a := copilot(t)
	a.undoAndRedo()
	a.keepsTheUsers()
	if n := a.asks.Load(); n > 0 {
		t.Errorf("%d commands reached the model", n)
	}
}

// TestCopilotSubAgent: what a sub-agent writes goes back with the turn that called it.
func TestCopilotSubAgent(t *testing.T) {
	needTier(t, 2)
	a := copilot(t)
	before := a.state()
	a.playsSubAgent()
	a.say("cairn undo")
	a.is("after the undo", before)
}

// playsSubAgent has a sub-agent write a file and run a command.
func (a *talker) playsSubAgent() {
	a.t.Helper()
	before := a.state()
	inner := script{write(a.at(true)("inner.txt"), "from the sub-agent\n"), shell("rm gone.txt"), "the sub-agent is done"}
	after := a.play(script{op{Task: inner.prompt(a.t)}, "the sub-agent has come back"})
	if diff := gittest.Diff(before, after); !strings.Contains(diff, "inner.txt") || !strings.Contains(diff, "gone.txt") {
		a.t.Fatalf("the sub-agent did not write:\n%s", diff)
	}
}

// TestDroidTools: without an account Droid runs a single prompt with a model of one's own, and
// calls no hook for the prompt. Its tools are recorded, and a shell takes them back.
func TestDroidTools(t *testing.T) {
	needTier(t, 2)
	modules := install(t, "droid", droidPackage)
	s := newSandbox(t)
	s.jsonFile(".factory/settings.json", object{
		"customModels": []object{{"model": "fake", "displayName": "Fake", "baseUrl": s.model + "/v1", "apiKey": "made-up", "provider": "generic-chat-completion-api", "maxOutputTokens": 8000}},
	})
	s.cairn("setup", "droid")
	a := &talker{sandbox: s, abs: true, say: func(prompt string) output {
		return s.run("", filepath.Join(modules, "@factory", "cli-linux-x64", "bin", "droid"), "exec", "--auto", "high", "-m", "custom:fake", prompt)
	}}
	a.takenBackInShell("droid")
}

// clineAgent returns a sandbox with Cline's program for terminals.
func clineAgent(t *testing.T) (*sandbox, []string) {
	t.Helper()
	modules := install(t, "cline", clinePackage)
	s := newSandbox(t)
	s.env = append(s.env, "CLINE_NO_AUTO_UPDATE=1")
	s.jsonFile(".cline/data/settings/providers.json", object{"version": 1, "lastUsedProvider": "openai-compatible", "providers": object{"openai-compatible": object{
		"settings":  object{"provider": "openai-compatible", "apiKey": "made-up", "baseUrl": s.model + "/v1", "model": "fake"},
		"updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual",
	}}})
	s.cairn("setup", "cline")
	t.Cleanup(s.endAll) // a hub stays
	return s, []string{filepath.Join(modules, "@cline", "cli-linux-x64", "bin", "cline"), "-P", "openai-compatible", "-m", "fake"}
}

// cline plays prompts, each a session of its own.
func cline(t *testing.T) *talker {
	t.Helper()
	s, argv := clineAgent(t)
	return &talker{sandbox: s, abs: true, say: func(prompt string) output {
		return s.run("", append(argv[:len(argv):len(argv)], prompt)...)
	}}
}

// TestClineTools: Cline's scripts record its tools, and a shell takes them back.
func TestClineTools(t *testing.T) {
	needTier(t, 2)
	cline(t).takenBackInShell("cline")
}

// TestClineSubAgent: what a sub-agent writes goes back with the turn that called it.
func TestClineSubAgent(t *testing.T) {
	needTier(t, 2)
	a := cline(t)
	before := a.state()
	a.playsSubAgent()
	a.cairn("undo")
	a.is("after the undo", before)
}

// takenBackInShell plays two turns, each a session of its own, and takes them back in a shell.
func (a *talker) takenBackInShell(agent string) {
	a.t.Helper()
	before := a.state()
	one := a.play(a.firstTurn(true))
	two := a.play(a.secondTurn(true))
	if gittest.Diff(before, one) == "" || gittest.Diff(one, two) == "" {
		a.t.Fatal("a turn changed nothing")
	}
	if got := a.agents(); !slices.Equal(got, []string{agent, agent}) {
		a.t.Errorf("the sessions are those of %q", got)
	}
	a.cairn("undo")
	a.is("after the undo of the second turn", one)
	a.cairn("redo")
	a.is("after a redo", two)
	a.cairn("undo")
	a.cairn("undo")
	a.is("after both", before)
}

// agents lists the agents of the sessions.
func (s *sandbox) agents() (list []string) {
	s.t.Helper()
	var sessions []struct{ Agent string }
	if err := json.Unmarshal([]byte(s.cairn("session", "list", "--json").stdout), &sessions); err != nil {
		s.t.Fatal(err)
	}
	for _, one := range sessions {
		list = append(list, one.Agent)
	}
	return list
}
