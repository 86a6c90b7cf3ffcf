//go:build linux

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// talker is an agent that is called once for each prompt and keeps its session.
type talker struct {
	*sandbox
	say func(prompt string) output // continues the session
	abs bool                       // its tools want absolute paths
}

func (a *talker) play(s script) gittest.Listing {
	a.t.Helper()
	out := a.say(s.prompt(a.t))
	end, _ := s[len(s)-1].(string)
	if !strings.Contains(out.stdout, end) {
		a.t.Fatalf("the script was not played to its end: status %d\nstdout: %s\nstderr: %s", out.status, last([]byte(out.stdout), 3000), last([]byte(out.stderr), 3000))
	}
	return a.state()
}

// undoAndRedo plays two turns and goes back and forth from inside the agent, without
// its model: everything is byte for byte as it was, whatever made the change (R08,
// R19, R24, R29, R35, R38, R47, R52 of the failure table).
func (a *talker) undoAndRedo() {
	a.t.Helper()
	before := a.state()
	one := a.play(a.firstTurn(a.abs))
	two := a.play(a.secondTurn(a.abs))
	if gittest.Diff(before, one) == "" || gittest.Diff(one, two) == "" {
		a.t.Fatal("a turn changed nothing")
	}
	for _, step := range []struct {
		prompt string
		want   gittest.Listing
	}{
		{"cairn undo", one}, {"cairn undo", before}, {"cairn redo", one}, {"cairn redo", two}, {"cairn undo 2", before}, {"cairn redo 2", two},
	} {
		out := a.say(step.prompt)
		if strings.Contains(out.stdout, "A title") {
			a.t.Errorf("%s reached the model: %s", step.prompt, last([]byte(out.stdout), 500))
		}
		a.is("after "+step.prompt, step.want)
	}
}

// keepsTheUsers: what the user writes between turns survives an undo (R31, R33).
func (a *talker) keepsTheUsers() {
	a.t.Helper()
	a.play(script{write(a.at(a.abs)("agent.txt"), "agent\n"), "the agent has written"})
	gittest.Create(a.t, a.project, gittest.Tree{"users.txt": gittest.File("mine\n")})
	want := a.state()
	delete(want, "agent.txt")
	a.say("cairn undo")
	a.is("after the undo the user's file stays", want)
}

// uuid wants one more digit, which tells the sessions and messages of a test apart.
const uuid = "01234567-89ab-4cde-8f01-23456789abc"

func claude(t *testing.T) (*talker, func(args ...string) func(string) output) {
	modules := install(t, "claude", claudePackage)
	s := newSandbox(t)
	s.env = append(s.env, "ANTHROPIC_BASE_URL="+s.model, "ANTHROPIC_API_KEY=made-up", "CLAUDE_CONFIG_DIR="+s.home+"/.claude",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1")
	s.jsonFile(".claude/settings.json", object{"permissions": object{"allow": []string{"Bash", "Write", "Edit", "Read", "Task", "Agent"}}})
	s.cairn("setup", "claude-code")
	session := func(args ...string) func(string) output {
		return func(prompt string) output {
			all := append([]string{modules + "/@anthropic-ai/claude-code-linux-x64/claude", "-p", "--model", "claude-sonnet-4-5"}, args...)
			return s.run(prompt, all...)
		}
	}
	begun := false
	a := &talker{sandbox: s, abs: true}
	a.say = func(prompt string) output {
		args := []string{"--resume", uuid + "0"}
		if !begun {
			begun, args = true, []string{"--session-id", uuid + "0"}
		}
		return session(args...)(prompt)
	}
	return a, session
}

func TestClaudeUndo(t *testing.T) {
	needTier(t, 1)
	a, _ := claude(t)
	a.undoAndRedo()
	a.workedWith("fake") // as its answers say
	a.keepsTheUsers()
}

// TestClaudeFork: a fork takes back what it did itself; the files of the session that
// it comes from stay, and that one still can take back its own.
func TestClaudeFork(t *testing.T) {
	needTier(t, 1)
	a, session := claude(t)
	before := a.state()
	one := a.play(a.firstTurn(true))
	fork := &talker{sandbox: a.sandbox, abs: true, say: session("--resume", uuid+"0", "--fork-session", "--session-id", uuid+"1")}
	fork.play(a.secondTurn(true))
	fork.say = session("--resume", uuid+"1")
	fork.say("cairn undo")
	a.is("the fork has taken back its turn", one)
	a.say("cairn undo")
	a.is("the first session has taken back its own", before)
}

// TestClaudeSubAgent: what a sub-agent writes goes back with the turn that called it,
// although it runs on after that turn's end (R25).
func TestClaudeSubAgent(t *testing.T) {
	needTier(t, 1)
	a, _ := claude(t)
	before := a.state()
	at := a.at(true)
	inner := script{write(at("inner.txt"), "from the sub-agent\n"), shell("rm gone.txt; mv é1.txt é3.txt"), "the sub-agent is done"}
	a.play(script{op{Task: inner.prompt(t)}, "it is at work"})
	if diff := gittest.Diff(before, a.state()); !strings.Contains(diff, "inner.txt") || !strings.Contains(diff, "é3.txt") {
		t.Fatalf("the sub-agent did not write:\n%s", diff)
	}
	a.say("cairn undo 5")
	a.is("everything taken back", before)
}

// TestTwoSessions: two sessions of Claude Code in one directory; each takes back its
// own (R32).
func TestTwoSessions(t *testing.T) {
	needTier(t, 1)
	a, session := claude(t)
	at := a.at(true)
	other := &talker{sandbox: a.sandbox, abs: true, say: session("--session-id", uuid+"2")}
	a.play(script{write(at("first.txt"), "1\n"), "the first has written"})
	first := a.state()
	other.play(script{write(at("second.txt"), "2\n"), shell("rm gone.txt"), "the second has written"})
	other.say = session("--resume", uuid+"2")
	want := a.state()
	delete(want, "first.txt")
	a.say("cairn undo")
	a.is("the first has taken back its own", want)
	delete(first, "first.txt")
	other.say("cairn undo")
	a.is("the second, too", first)
}

// codexAgent returns a sandbox with Codex, and its program.
func codexAgent(t *testing.T) (*sandbox, string) {
	install(t, "codex", codexPackage)
	s := newSandbox(t)
	s.env = append(s.env, "FAKE_KEY=made-up", "CODEX_HOME="+s.home+"/.codex")
	s.file(".codex/config.toml", `model = "gpt-5.5"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[otel]
exporter = "none"

[model_providers.fake]
name = "Fake"
base_url = "`+s.model+`/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1

[projects."`+s.project+`"]
trust_level = "trusted"
`)
	s.cairn("setup", "codex")
	return s, codexProgram(t)
}

// codexProgram is the program of the package, which other programs of a sandbox do not find.
func codexProgram(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(install(t, "codex", codexPackage) + "/@openai/codex-linux-x64/vendor/*/bin/codex")
	if err != nil || len(found) != 1 {
		t.Fatalf("%d programs, %v", len(found), err)
	}
	return found[0]
}

func codex(t *testing.T) *talker {
	s, program := codexAgent(t)
	base := []string{program, "exec", "--json", "--dangerously-bypass-hook-trust"}
	begun := false
	return &talker{sandbox: s, say: func(prompt string) output {
		args := append(base[:len(base):len(base)], "resume", "--last", "-")
		if !begun {
			begun, args = true, append(base[:len(base):len(base)], "-")
		}
		return s.run(prompt, args...)
	}}
}

func TestCodexUndo(t *testing.T) {
	needTier(t, 1)
	a := codex(t)
	a.undoAndRedo()
	a.workedWith("gpt-5.5")
	a.keepsTheUsers()
}

// geminiAgent returns a sandbox with Gemini CLI, and how that is started.
func geminiAgent(t *testing.T) (*sandbox, []string) {
	installNode(t)
	modules := install(t, "gemini", geminiPackage)
	s := newSandbox(t)
	s.env = append(s.env, "GEMINI_API_KEY=made-up", "GOOGLE_GEMINI_BASE_URL="+s.model, "GEMINI_CLI_NO_RELAUNCH=true")
	s.geminiSettings(object{})
	s.cairn("setup", "gemini")
	return s, []string{nodeDir() + "/node", modules + "/@google/gemini-cli/bundle/gemini.js", "-m", "gemini-2.5-pro", "--approval-mode", "yolo"}
}

// geminiSettings keeps Gemini CLI at home. general has further settings of that section.
func (s *sandbox) geminiSettings(general object) {
	s.t.Helper()
	general["enableAutoUpdate"], general["enableAutoUpdateNotification"] = false, false
	s.jsonFile(".gemini/settings.json", object{
		"general": general, "privacy": object{"usageStatisticsEnabled": false},
		"telemetry": object{"enabled": false}, "tools": object{"sandbox": false},
		"security": object{"auth": object{"selectedType": "gemini-api-key"}, "folderTrust": object{"enabled": false}},
	})
}

func geminiTalker(t *testing.T) *talker {
	s, base := geminiAgent(t)
	begun := false
	return &talker{sandbox: s, abs: true, say: func(prompt string) output {
		args := base[:len(base):len(base)]
		if begun {
			args = append(args, "--resume", "latest")
		}
		begun = true
		return s.run("", append(args, "-p", prompt)...)
	}}
}

func TestGeminiUndo(t *testing.T) {
	needTier(t, 3)
	a := geminiTalker(t)
	a.undoAndRedo()
	a.workedWith("gemini-2.5-pro")
}

// qwenAgent returns a sandbox with Qwen Code, and how that is started.
func qwenAgent(t *testing.T) (*sandbox, []string) {
	installNode(t)
	modules := install(t, "qwen", qwenPackage)
	s := newSandbox(t)
	s.env = append(s.env, "OPENAI_API_KEY=made-up", "OPENAI_BASE_URL="+s.model+"/v1", "OPENAI_MODEL=fake", "QWEN_CODE_NO_RELAUNCH=true")
	s.jsonFile(".qwen/settings.json", object{
		"general": object{"enableAutoUpdate": false, "disableAutoUpdate": true}, "privacy": object{"usageStatisticsEnabled": false},
		"telemetry": object{"enabled": false}, "security": object{"auth": object{"selectedType": "openai"}}, "model": object{"name": "fake"}, "$version": 4,
		"ui": object{"enableFollowupSuggestions": false},
	})
	s.cairn("setup", "qwen")
	return s, []string{nodeDir() + "/node", modules + "/@qwen-code/qwen-code/cli-entry.js", "--yolo"}
}

func qwenTalker(t *testing.T) *talker {
	s, base := qwenAgent(t)
	begun := false
	return &talker{sandbox: s, abs: true, say: func(prompt string) output {
		args := base[:len(base):len(base)]
		if begun {
			args = append(args, "--continue")
		}
		begun = true
		return s.run("", append(args, "-p", prompt)...)
	}}
}

func TestQwenUndo(t *testing.T) {
	needTier(t, 3)
	a := qwenTalker(t)
	a.undoAndRedo()
	a.workedWith("fake")
}
