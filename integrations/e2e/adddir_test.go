//go:build linux

package e2e

import (
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// beside makes a directory beside the project, and returns a function that compares it.
func (s *sandbox) beside(name string) (dir string, is func(what string, want gittest.Listing), state func() gittest.Listing) {
	s.t.Helper()
	dir = filepath.Join(filepath.Dir(s.project), name)
	gittest.Create(s.t, dir, gittest.Tree{"lib.txt": gittest.File("old\n"), "gone.txt": gittest.File("bye\n")})
	state = func() gittest.Listing { return gittest.Manifest(s.t, dir) }
	return dir, func(what string, want gittest.Listing) {
		s.t.Helper()
		if diff := gittest.Diff(want, state()); diff != "" {
			s.t.Fatalf("%s, in %s (- missing, + unexpected, ! changed):\n%s\nhooks: %s", what, name, diff, s.hooksLog())
		}
	}, state
}

// inBoth plays a turn that changes the project and a directory beside it, which say's agent was told of. One
// undo takes back both, and one redo brings back both.
func (a *talker) inBoth(dir string, is func(string, gittest.Listing), state func() gittest.Listing) {
	a.t.Helper()
	here, there := a.state(), state()
	after := a.play(script{
		write(a.at(a.abs)("new.txt"), "x\n"),
		shell("echo more >> " + dir + "/lib.txt && rm " + dir + "/gone.txt && mkdir " + dir + "/made && echo y > " + dir + "/made/f"),
		"both are written",
	})
	done := state()
	if gittest.Diff(there, done) == "" {
		a.t.Fatal("the turn changed nothing beside the project")
	}
	a.say("cairn undo")
	a.is("after undo", here)
	is("after undo", there)
	a.say("cairn redo")
	a.is("after redo", after)
	is("after redo", done)
}

// TestClaudeAddDir: directories of the command line and of the settings are roots of the session.
func TestClaudeAddDir(t *testing.T) {
	needTier(t, 1)
	for name, args := range map[string][]string{"option": {"--add-dir", "../lib"}, "settings": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, session := claude(t)
			dir, is, state := a.beside("lib")
			if args == nil {
				gittest.Create(t, a.project, gittest.Tree{".claude": gittest.Dir(), ".claude/settings.local.json": gittest.File(`{"permissions":{"additionalDirectories":["../lib"]}}`)})
			}
			begun := false
			a.say = func(prompt string) output {
				id := []string{"--resume", uuid + "0"}
				if !begun {
					begun, id = true, []string{"--session-id", uuid + "0"}
				}
				return session(append(id, args...)...)(prompt)
			}
			a.inBoth(dir, is, state)
		})
	}
}

// TestCodexAddDir: Codex notes its directories in its record.
func TestCodexAddDir(t *testing.T) {
	needTier(t, 1)
	s, program := codexAgent(t)
	dir, is, state := s.beside("lib")
	base := []string{program, "exec", "--json", "--dangerously-bypass-hook-trust", "--add-dir", "../lib"}
	begun := false
	a := &talker{sandbox: s, say: func(prompt string) output {
		args := append(base[:len(base):len(base)], "resume", "--last", "-")
		if !begun {
			begun, args = true, append(base[:len(base):len(base)], "-")
		}
		return s.run(prompt, args...)
	}}
	a.inBoth(dir, is, state)
}

// TestGeminiIncludeDirectories and TestQwenIncludeDirectories: the command line of a script.
func TestGeminiIncludeDirectories(t *testing.T) {
	needTier(t, 3)
	s, base := geminiAgent(t)
	includes(s, append(base, "--include-directories", "../lib"), "--resume", "latest")
}

func TestQwenIncludeDirectories(t *testing.T) {
	needTier(t, 3)
	s, base := qwenAgent(t)
	includes(s, append(base, "--include-directories", "../lib"), "--continue")
}

func includes(s *sandbox, base []string, again ...string) {
	s.t.Helper()
	dir, is, state := s.beside("lib")
	begun := false
	a := &talker{sandbox: s, abs: true, say: func(prompt string) output {
		args := base[:len(base):len(base)]
		if begun {
			args = append(args, again...)
		}
		begun = true
		return s.run("", append(args, "-p", prompt)...)
	}}
	a.inBoth(dir, is, state)
}

// TestCopilotAddDir: the command line of a script.
func TestCopilotAddDir(t *testing.T) {
	needTier(t, 2)
	s, argv := copilotAgent(t)
	includes(s, append(argv, "--add-dir", "../lib"), "--continue")
}

// TestTerminalClaudeAddDir: a directory that is added with a command in the middle of a session.
func TestTerminalClaudeAddDir(t *testing.T) {
	needTier(t, 1)
	needTmux(t)
	a, program := claudeTerminal(t)
	dir, is, state := a.beside("lib")
	a.argv = []string{program}
	a.opens()
	a.plays(script{write(a.project+"/first.txt", "x\n"), "the first is done"})
	here, there := a.state(), state()
	a.terminal.types("/add-dir " + dir)
	a.picks("Yes, add it")
	a.sees(`Yes, for this session`)
	a.keys("Enter")
	a.sees(`Added .*/lib as a working directory`)
	a.plays(script{shell("echo more >> " + dir + "/lib.txt; rm " + dir + "/gone.txt; echo y > second.txt"), "the second is done"})
	a.says("cairn undo", `took back 1 turn: 2 restored, 1 deleted`) // TestTerminalClaude looks at what the model is asked
	a.is("after undo", here)
	is("after undo", there)
}
