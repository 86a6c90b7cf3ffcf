//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// typist is an agent's terminal and its peculiarities.
type typist struct {
	*terminal
	argv   []string                       // starts the agent
	abs    bool                           // its tools want absolute paths
	typed  typedBeside                    // how it takes a command that is typed beside a tool
	esc    string                         // what the screen shows once Esc has stopped a tool
	ended  string                         // what the model says of a background command that has ended; "" if it is not asked
	busy   string                         // what the screen shows until the agent takes the next prompt as a new turn; "" if it always does
	over   string                         // what the screen shows below the last words of a turn from then on; "" for nothing
	ready  string                         // what the screen shows when a line can be typed
	asked  map[string]string              // questions at the start, and the options that answer them
	tells  func(line, want string) string // how it answers a line that cairn answers; nil: on the screen
	steer  func(*typist)                  // how it takes a prompt beside a tool, where that is no part of the turn
	cannot map[string]string              // cases that the interface cannot do, and why
}

// terminalCases are what each agent's terminal is tested for. Each case checks the screen
// and the files, and none of the commands is a turn of the model.
var terminalCases = []struct {
	name string
	run  func(*typist)
}{
	{"undo in a shell", (*typist).undoesInAShell}, // first: later there is something else to undo
	{"undo twice", (*typist).undoesTwice},
	{"undo with a count", (*typist).undoesSeveral},
	{"redo", (*typist).redoes},
	{"log", (*typist).logs},
	{"diff", (*typist).diffs},
	{"a mistyped command", (*typist).mistypes},
	{"undo beside a tool", (*typist).undoesBesideATool},
	{"Esc, then undo", (*typist).undoesAfterEsc},
	{"a prompt beside a tool", (*typist).steers},
	{"a background command", (*typist).undoesBesideABackgroundCommand},
	{"an undo that takes long", (*typist).undoesLate},
	{"a question keeps redo", (*typist).keepsRedo},
	{"a branch changed", (*typist).tellsWhatGitDid},
	{"6,000 files", (*typist).undoesThousands},
	{"a damaged store", (*typist).meetsDamage},
	{"a full disk", (*typist).cannotBeProtected},
}

// everything goes through all cases in one run of the agent.
func (a *typist) everything(argv ...string) {
	a.t.Helper()
	a.argv = argv
	a.opens()
	whole := a.t
	defer func() { a.t = whole }()
	for _, c := range terminalCases {
		ok := whole.Run(c.name, func(t *testing.T) {
			if why := a.cannot[c.name]; why != "" {
				t.Skip("NOT TESTED: " + why)
			}
			a.t = t
			c.run(a)
		})
		if !ok {
			return // the screen is in no state for the next case
		}
	}
}

func (a *typist) opens() {
	a.t.Helper()
	a.terminal = a.inTerminal(a.argv...)
	a.terminal.opens(a.ready, a.asked)
}

// plays also waits until the next typed text is a turn of its own.
func (a *typist) plays(what script) {
	a.t.Helper()
	a.terminal.plays(what)
	end, _ := what[len(what)-1].(string)
	a.rests(regexp.QuoteMeta(end))
}

// says does so, too.
func (a *typist) says(line, want string) string {
	a.t.Helper()
	screen := a.terminal.says(line, want)
	a.rests(want)
	return screen
}

// rests waits until the agent takes what is typed as a new turn. The screen shows the last words of
// the turn before.
func (a *typist) rests(last string) {
	a.t.Helper()
	if a.over != "" {
		a.sees("(?:" + last + ").*" + a.over)
	}
	rx := regexp.MustCompile(a.busy)
	for end := time.Now().Add(screenBound); a.busy != "" && rx.MatchString(words(a.screen())); time.Sleep(lookPause) {
		if time.Now().After(end) {
			a.t.Fatalf("it never rests:\n%s", a.screen())
		}
	}
}

// turn plays a turn that writes one file.
func (a *typist) turn(name string) {
	a.t.Helper()
	a.plays(script{write(a.at(a.abs)(name), name+"\n"), "done with " + name})
}

// answers types a line that cairn answers without a change of files.
func (a *typist) answers(line, want string) string {
	a.t.Helper()
	if a.tells != nil {
		return a.tells(line, want)
	}
	return a.says(line, want)
}

// commands calls f and checks that the model was not asked.
func (a *typist) commands(f func()) {
	a.t.Helper()
	before := a.asks.Load()
	f()
	if n := a.asks.Load() - before; n != 0 {
		a.t.Errorf("%d commands were a turn of the model:\n%s", n, a.screen())
	}
}

func (a *typist) undoesTwice() {
	a.t.Helper()
	zero := a.state()
	a.turn("twice-1.txt")
	one := a.state()
	a.turn("twice-2.txt")
	a.commands(func() {
		a.says("cairn undo", `took back 1 turn: 1 deleted deleted twice-2\.txt`)
		a.is("after undo", one)
		screen := a.says("cairn undo", `took back 1 turn: 1 deleted deleted twice-1\.txt`)
		a.is("after undo typed again", zero)
		if strings.Contains(screen, "cairn undocairn undo") {
			a.t.Errorf("the second command was appended to the first:\n%s", screen)
		}
	})
}

func (a *typist) undoesSeveral() {
	a.t.Helper()
	zero := a.state()
	a.turn("several-1.txt")
	a.turn("several-2.txt")
	a.commands(func() {
		a.says("cairn undo 2", `took back 2 turns: 2 deleted deleted several-2\.txt deleted several-1\.txt`)
		a.is("after undo 2", zero)
	})
}

func (a *typist) redoes() {
	a.t.Helper()
	a.turn("again-1.txt")
	a.turn("again-2.txt")
	two := a.state()
	a.commands(func() {
		a.says("cairn undo 2", `took back 2 turns: 2 deleted deleted again-2\.txt deleted again-1\.txt`)
		a.says("cairn redo", `brought back 1 turn: 1 restored restored again-1\.txt`)
		a.says("cairn redo", `brought back 1 turn: 1 restored restored again-2\.txt`)
		a.is("after redo typed twice", two)
		a.says("cairn redo", `nothing to bring back in this session`)
		a.is("after redo without anything to bring back", two)
	})
}

func (a *typist) logs() {
	a.t.Helper()
	a.turn("logged.txt")
	after := a.state()
	a.commands(func() {
		a.answers("cairn log", `turns of this session that changed files, newest first .* 1 \d+ s 1 file please play ACT_`)
		a.is("after log", after)
	})
}

func (a *typist) diffs() {
	a.t.Helper()
	a.turn("compared.txt")
	after := a.state()
	a.commands(func() {
		a.answers("cairn diff", `1 file changed \d+ s ago: the turn "please play .*" added compared\.txt \+1 -0`)
		a.is("after diff", after)
	})
}

func (a *typist) mistypes() {
	a.t.Helper()
	a.turn("mistyped.txt")
	after := a.state()
	a.commands(func() {
		a.answers("cairn redoo", `there is no cairn redoo; did you mean cairn redo\?; nothing was done`)
		a.answers("cairn stash 3", `there is no cairn stash; nothing was done`)
		a.answers("cairn undo --dry-run", `would take back 1 turn \(not yet: this is a preview\): 1 deleted deleted mistyped\.txt`)
		a.is("after mistyped commands and a dry run", after)
	})
}

// waitsForGo is a command that writes, and writes once more when it is told to.
func waitsForGo(first, second string) string {
	return "echo x > " + first + "; while [ ! -e ../go-" + first + " ]; do sleep 0.05; done; echo y > " + second
}

func (a *typist) tellsToGo(first string) {
	a.t.Helper()
	if err := os.WriteFile(filepath.Join(a.project, "..", "go-"+first), nil, 0o644); err != nil {
		a.t.Fatal(err)
	}
}

// typedBeside is how an agent takes a command that is typed while a tool runs.
type typedBeside int

const (
	answersAtOnce typedBeside = iota // its hook is called, and the answer is shown
	answersLate                      // its hook is called, and the answer is shown after the turn
	queues                           // its hook is called after the turn
)

// undoesBesideATool: an undo that is typed while a tool runs changes nothing before the
// turn is over. What the tool then writes is the turn's, and goes with it.
func (a *typist) undoesBesideATool() {
	a.t.Helper()
	const refused = `nothing was done: \S+ was at work when this was typed`
	before := a.state()
	a.makes(script{shell(waitsForGo("beside-1.txt", "beside-2.txt")), "done with both"}.short(a.t), "beside-1.txt")
	during := a.state()
	a.terminal.says("cairn undo", map[typedBeside]string{answersAtOnce: refused, answersLate: `cairn undo .*[Qq]ueued`, queues: `↳ cairn undo|Queued.*cairn undo|1 queued`}[a.typed])
	a.is("after an undo beside a tool", during)
	if a.typed == answersLate {
		a.hasRefused()
	}
	a.tellsToGo("beside-1.txt")
	if a.typed != queues {
		a.sees(`done with both`)
		a.sees(refused)
		a.types("cairn undo")
	}
	a.sees(`took back 1 turn: 2 deleted deleted beside-1\.txt deleted beside-2\.txt`)
	a.says("cairn settled", `there is no cairn settled`) // the queue is empty
	a.is("after the turn and undo", before)
}

// hasRefused waits until the hook has refused an undo: its answer comes after the turn.
func (a *typist) hasRefused() {
	a.t.Helper()
	pattern := filepath.Join(a.home, ".local/share/cairn/hooks/turns/*.json")
	for end := time.Now().Add(screenBound); time.Now().Before(end); time.Sleep(lookPause) {
		list, _ := filepath.Glob(pattern)
		for _, path := range list {
			if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), `"refused":`) {
				return
			}
		}
	}
	a.t.Fatalf("no hook has refused the undo:\n%s", a.screen())
}

// undoesAfterEsc: what a tool has written before Esc goes with undo, at once.
func (a *typist) undoesAfterEsc() {
	a.t.Helper()
	before := a.state()
	a.makes(script{shell(waitsForGo("begun.txt", "ended.txt")), "done with ended.txt"}.short(a.t), "begun.txt")
	a.stop()
	a.says("cairn undo", `took back 1 turn: 1 deleted deleted begun\.txt`)
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

// steers types a prompt while a tool runs. What the tool writes after it goes with undo, also where the agent
// takes the prompt as a turn of its own.
func (a *typist) steers() {
	a.t.Helper()
	if a.steer != nil {
		a.steer(a)
		return
	}
	before := a.state()
	first := script{shell(waitsForGo("steered-1.txt", "steered-2.txt")), "done with steered"}
	a.makes(first.short(a.t), "steered-1.txt")
	a.types(script{"told more"}.short(a.t))
	a.tellsToGo("steered-1.txt")
	end := "done with steered|told more"
	if a.typed == queues {
		end = "told more"
	}
	a.sees(end)
	a.rests(end)
	a.says("cairn undo", `took back 1 turn: 2 deleted deleted steered-1\.txt deleted steered-2\.txt`)
	a.is("after a prompt beside a tool and undo", before)
}

// undoesBesideABackgroundCommand: undo takes what the turn did, and names the command
// that was left running, or takes what that has written, too.
func (a *typist) undoesBesideABackgroundCommand() {
	a.t.Helper()
	before := a.state()
	command := op{Shell: waitsForGo("back-1.txt", "back-2.txt"), After: true}
	a.plays(script{command, shell("while [ ! -s back-1.txt ]; do sleep 0.05; done"), "left it running"})
	a.says("cairn undo", `took back 1 turn: 1 deleted deleted back-1\.txt.*background command`)
	a.is("after undo beside a background command", before)
	a.tellsToGo("back-1.txt")
	a.appears("back-2.txt")
	if a.ended != "" {
		a.sees(a.ended) // the next prompt is a turn of its own only then
	}
	if err := os.Remove(filepath.Join(a.project, "back-2.txt")); err != nil {
		a.t.Fatal(err)
	}
}

// undoesThousands: 6,000 files of one turn; the list is cut, with the number of the rest.
func (a *typist) undoesThousands() {
	a.t.Helper()
	before := a.state()
	a.plays(script{shell("mkdir many && cd many && seq 6000 | xargs touch"), "done with many"})
	a.commands(func() {
		a.says("cairn undo", `took back 1 turn: 600[01] deleted.*and 59\d\d more`)
		a.is("after undo of 6,000 files", before)
	})
}

func TestTerminalClaude(t *testing.T) {
	needTier(t, 1)
	needTmux(t)
	a, program := claudeTerminal(t)
	a.everything(program)
}

// claudeTerminal returns Claude Code's terminal, not yet started, and its program.
func claudeTerminal(t *testing.T) (*typist, string) {
	t.Helper()
	s, _ := claude(t)
	about := object{
		"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": object{"approved": []string{"made-up"}, "rejected": []string{}},
		"projects": object{s.project: object{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	}
	s.jsonFile(".claude/.claude.json", about)
	s.env = append(s.env, "ANTHROPIC_MODEL=claude-sonnet-4-5")
	a := &typist{terminal: &terminal{sandbox: s.sandbox}, abs: true, typed: answersLate, esc: `Interrupted`, ended: `the script is over`, ready: `\? for shortcuts`}
	return a, filepath.Join(cacheDir(), "claude", "node_modules/@anthropic-ai/claude-code-linux-x64/claude")
}

func TestTerminalGemini(t *testing.T) {
	needTier(t, 3)
	needTmux(t)
	s, argv := geminiAgent(t)
	a := &typist{terminal: &terminal{sandbox: s}, abs: true, typed: queues, esc: `(?i)cancelled`, ready: `Type your message`}
	a.everything(argv...)
}

func TestTerminalCodex(t *testing.T) {
	needTier(t, 1)
	needTmux(t)
	s, program := codexAgent(t)
	startCodexDaemon(s, program)
	a := &typist{terminal: &terminal{sandbox: s}, typed: queues, esc: `(?i)interrupted`, over: `Worked for \S+ • `, ready: `← for agents`,
		asked: map[string]string{"Hooks need review": "2. Trust all and continue", "Try new model": "2. Use existing model"}}
	a.everything(program)
}

// startCodexDaemon starts the server that Codex's interface works with. The interface would start it,
// too, with a copy of Codex's 400 MB, and ends where that does not answer within half a minute. On a
// busy machine a start ends so, too. The next one then finds the same server.
func startCodexDaemon(s *sandbox, program string) {
	s.t.Helper()
	s.t.Cleanup(s.endAll)
	for end := time.Now().Add(screenBound); ; {
		out := s.run("", program, "app-server", "daemon", "start")
		if out.status == 0 {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("Codex's server does not answer: %s%s", out.stdout, out.stderr)
		}
	}
}

func TestTerminalQwen(t *testing.T) {
	needTier(t, 3)
	needTmux(t)
	s, argv := qwenAgent(t)
	a := &typist{terminal: &terminal{sandbox: s}, abs: true, typed: queues, esc: `(?i)cancelled`, ready: `Type your message`}
	a.everything(argv...)
}

func TestTerminalPi(t *testing.T) {
	needTier(t, 1)
	needTmux(t)
	s := newSandbox(t)
	a := &typist{terminal: &terminal{sandbox: s}, esc: `(?i)abort`, ready: `fake`, busy: `Working`,
		cannot: map[string]string{"a background command": "pi's bash tool waits for its command, and none runs in the background"}}
	a.everything(s.piArgs(piVersions[0])...)
}
