//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// typist is an agent's terminal and what is peculiar to it.
type typist struct {
	*terminal
	abs   bool                // its tools want absolute paths
	esc   string              // what the screen shows once Esc has stopped a tool
	ready string              // what the screen shows when a line can be typed
	asked map[string][]string // questions at the start, and the keys that answer them
}

func (a *typist) writes(name string) script {
	return script{write(a.at(a.abs)(name), name+"\n"), "done with " + name}
}

// goesBackAndForth: undo twice in a row, redo with a count, log, diff, a mistyped
// command, undo with a count. What is on the screen is what happened to the files, and
// none of it is a turn of the model.
func (a *typist) goesBackAndForth() {
	a.t.Helper()
	before := a.state()
	a.plays(a.writes("first.txt"))
	one := a.state()
	a.plays(a.writes("second.txt"))
	two := a.state()
	a.says("cairn log", `turns of this session that changed files`)
	a.says("cairn diff", `1 file changed`)
	a.says("cairn redoo", `did you mean cairn redo\?`)
	a.is("after a mistyped command", two)
	a.says("cairn undo --dry-run", `would take back 1 turn`)
	a.is("after a dry run", two)
	a.says("cairn undo", `took back 1 turn: 1 deleted deleted second\.txt`)
	a.is("after undo", one)
	screen := a.says("cairn undo", `took back 1 turn: 1 deleted deleted first\.txt`)
	a.is("after undo typed again", before)
	if strings.Contains(screen, "cairn undocairn undo") {
		a.t.Errorf("the second command was appended to the first:\n%s", screen)
	}
	a.says("cairn redo 2", `brought back 2 turns`)
	a.is("after redo 2", two)
	a.says("cairn undo 2", `took back 2 turns`)
	a.is("after undo 2", before)
	if screen := a.screen(); strings.Contains(screen, "the script is over") {
		a.t.Errorf("a command was a turn of the model:\n%s", screen)
	}
}

// waitsForGo is a tool that writes, and writes once more when it is told to.
func (a *typist) waitsForGo(first, second string) script {
	return script{shell("echo x > " + first + "; while [ ! -e ../go-" + first + " ]; do sleep 0.05; done; echo y > " + second), "done with " + second}
}

// stopsInTheMiddle: Esc while a tool runs, then undo.
func (a *typist) stopsInTheMiddle() {
	a.t.Helper()
	before := a.state()
	a.makes(a.waitsForGo("begun.txt", "ended.txt").short(a.t), "begun.txt")
	a.stop()
	a.says("cairn undo", `deleted begun\.txt`)
	a.is("after Esc and undo", before)
}

// stop presses Esc until the agent says that it has stopped.
func (a *typist) stop() {
	a.t.Helper()
	rx := regexp.MustCompile(a.esc)
	for end := time.Now().Add(screenBound); time.Now().Before(end); {
		a.keys("Escape")
		if _, ok := a.looks(rx, enterAgain); ok {
			return
		}
	}
	a.t.Fatalf("Esc does not stop it:\n%s", a.screen())
}

// takesBackMany: 6,000 files of one turn; the list is cut, with the number of the rest.
func (a *typist) takesBackMany() {
	a.t.Helper()
	before := a.state()
	a.plays(script{shell("mkdir many && cd many && seq 6000 | xargs touch"), "done with many"})
	a.says("cairn undo", `took back 1 turn: 600[01] deleted.*and 59\d\d more`)
	a.is("after undo of 6,000 files", before)
}

// cannotBeProtected: the store's disk is full. Nothing claims that there was nothing.
func (a *typist) cannotBeProtected(argv ...string) {
	a.t.Helper()
	full := gittest.SmallDisk(a.t, 1<<20)
	if err := os.WriteFile(filepath.Join(full, "fill"), make([]byte, 1<<20), 0o600); err == nil {
		a.t.Log("the small disk is not full yet")
	}
	a.env = append(a.env, "CAIRN_DATA_DIR="+full)
	a.terminal = a.inTerminal(argv...)
	a.opens(a.ready, a.asked)
	a.plays(a.writes("unsaved.txt"))
	if screen := a.says("cairn undo", `no space left`); strings.Contains(screen, "nothing to take back") {
		a.t.Errorf("that nothing is there to take back is not true:\n%s", screen)
	}
	a.says("cairn log", `log: .*no space left|was captured: .*no space left`)
}

// everything is what the terminal of each agent is tested for.
func (a *typist) everything(argv ...string) {
	a.t.Helper()
	a.terminal = a.inTerminal(argv...)
	a.opens(a.ready, a.asked)
	a.goesBackAndForth()
	a.stopsInTheMiddle()
	a.takesBackMany()
	a.tmux("kill-server")
	a.cannotBeProtected(argv...)
}

func TestTerminalClaude(t *testing.T) {
	needTier(t, 1)
	needTmux(t)
	s, _ := claude(t)
	about := object{
		"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": object{"approved": []string{"made-up"}, "rejected": []string{}},
		"projects": object{s.project: object{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	}
	s.jsonFile(".claude/.claude.json", about)
	s.env = append(s.env, "ANTHROPIC_MODEL=claude-sonnet-4-5")
	a := &typist{terminal: &terminal{sandbox: s.sandbox}, abs: true, esc: `Interrupted`, ready: `\? for shortcuts`}
	a.everything(filepath.Join(cacheDir(), "claude", "node_modules/@anthropic-ai/claude-code-linux-x64/claude"))
}

func TestTerminalGemini(t *testing.T) {
	needTier(t, 3)
	needTmux(t)
	s, argv := geminiAgent(t)
	a := &typist{terminal: &terminal{sandbox: s}, abs: true, esc: `(?i)cancelled`, ready: `Type your message`}
	a.everything(argv...)
}
