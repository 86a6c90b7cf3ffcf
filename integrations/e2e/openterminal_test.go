//go:build linux

package e2e

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// openTypist is OpenCode's terminal. Undo and redo are its own commands: the messages go
// first, the files follow. Messages of cairn are toasts.
type openTypist struct {
	*typist
	title string // of the agent
}

// openCases are the cases of terminalCases, in the way that OpenCode has for each.
var openCases = []struct {
	name string
	run  func(openTypist)
}{
	{"undo in a shell", openTypist.isNamedInAShell},
	{"undo twice", openTypist.undoesTwice},
	{"undo with a count", openTypist.namesItsOwnUndo},
	{"redo", openTypist.redoes},
	{"log", openTypist.logs},
	{"diff", openTypist.diffs},
	{"a mistyped command", openTypist.mistypes},
	{"undo beside a tool", openTypist.undoesBesideATool},
	{"Esc, then undo", openTypist.undoesAfterEsc},
	{"a prompt beside a tool", openTypist.steers},
	{"a background command", openTypist.hasNoBackground},
	{"an undo that takes long", openTypist.undoesLate},
	{"a branch changed", openTypist.tellsWhatGitDid},
	{"6,000 files", openTypist.undoesThousands},
	{"a damaged store", openTypist.meetsDamage},
	{"a full disk", openTypist.cannotBeProtected},
}

func TestTerminalOpenCode(t *testing.T) {
	needTier(t, 2)
	needTmux(t)
	s, program := openCodeAgent(t, true)
	inOpenTerminal(t, s, program, "OpenCode")
}

// TestTerminalKilo: Kilo CLI runs OpenCode's plugin, and its terminal is made from OpenCode's.
func TestTerminalKilo(t *testing.T) {
	needTier(t, 2)
	needTmux(t)
	s, program := kiloAgent(t, true)
	inOpenTerminal(t, s, program, "Kilo CLI")
}

// inOpenTerminal plays all cases in the terminal of OpenCode, or of an agent that is made from it.
func inOpenTerminal(t *testing.T, s *sandbox, program, title string) {
	a := openTypist{&typist{terminal: &terminal{sandbox: s}, argv: []string{program}, esc: `· interrupted`, ready: `Ask anything`, busy: `esc interrupt`}, title}
	a.typist.tells = a.answersInAToast
	a.opens()
	defer func() { a.t = t }()
	for _, c := range openCases {
		ok := t.Run(c.name, func(t *testing.T) {
			a.t = t
			c.run(a)
		})
		if !ok {
			return // the screen is in no state for the next case
		}
	}
}

// opens also waits until what is typed arrives: the box is drawn before it listens.
func (a openTypist) opens() {
	a.t.Helper()
	a.typist.opens()
	a.presses(`┃ x\b`, "x")
	a.clears()
}

// presses presses a key until the screen shows what it does.
func (a openTypist) presses(want, key string) {
	a.t.Helper()
	rx := regexp.MustCompile(want)
	for end := time.Now().Add(screenBound); time.Now().Before(end); {
		a.keys(key)
		if a.shows(rx, enterAgain) {
			return
		}
	}
	a.t.Fatalf("%s never brings %s:\n%s", key, want, a.screen())
}

// shows looks at the lines of the screen, with their frames.
func (a openTypist) shows(want *regexp.Regexp, bound time.Duration) bool {
	for end := time.Now().Add(bound); ; time.Sleep(lookPause) {
		if want.MatchString(regexp.MustCompile(` +`).ReplaceAllString(a.screen(), " ")) {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// boxIsEmpty matches the input box with nothing in it: the line above the name of the mode and the model.
const boxIsEmpty = `┃ ?(Ask anything[^\n]*)?\n ?┃ ?\n ?┃ (Build|Code) · Fake`

// clears empties the input box, in which undo puts the prompt that it takes back.
func (a openTypist) clears() {
	a.t.Helper()
	a.presses(boxIsEmpty, "C-u")
}

// slash chooses a command of OpenCode's. Enter is pressed again only while the list of
// commands is there: after undo the box holds a prompt, which Enter would send.
func (a openTypist) slash(command, about, want string) {
	a.t.Helper()
	a.clears()
	a.tmux("send-keys", "-l", command)
	a.sees(about)
	for rx, end := regexp.MustCompile(about), time.Now().Add(screenBound); rx.MatchString(words(a.screen())); time.Sleep(lookPause) {
		if time.Now().After(end) {
			a.t.Fatalf("%s is not chosen:\n%s", command, a.screen())
		}
		a.keys("Enter")
		a.goes(about)
	}
	a.sees(want)
}

func (a openTypist) undo(want string) { a.t.Helper(); a.slash("/undo", "Undo previous message", want) }
func (a openTypist) redo(want string) { a.t.Helper(); a.slash("/redo", "/redo Redo", want) }

// reverted is what the screen shows while messages are taken back.
func reverted(n string) string { return n + ` messages? reverted .*/redo to restore` }

// toast is cairn's message: it covers the right of the screen, beside other text.
func (a openTypist) toast() string {
	var lines []string
	for _, m := range toastLine.FindAllStringSubmatch(a.screen(), -1) {
		lines = append(lines, m[1])
	}
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}

var toastLine = regexp.MustCompile(`(?m)┃([^┃\n]*)┃ *$`)

// reads waits for cairn's message.
func (a openTypist) reads(want string) string {
	a.t.Helper()
	rx := regexp.MustCompile(want)
	for end := time.Now().Add(screenBound); time.Now().Before(end); time.Sleep(lookPause) {
		if text := a.toast(); rx.MatchString(text) {
			return text
		}
	}
	a.t.Fatalf("cairn never tells %q:\n%s\nhooks: %s", want, a.screen(), a.hooksLog())
	return ""
}

// answersInAToast types a line that cairn answers.
func (a openTypist) answersInAToast(line, want string) string {
	a.t.Helper()
	a.clears()
	a.types(line)
	return a.reads(want)
}

func (a openTypist) undoesTwice() {
	a.t.Helper()
	zero := a.state()
	a.turn("twice-1.txt")
	one := a.state()
	a.turn("twice-2.txt")
	a.commands(func() {
		a.undo(reverted("1"))
		a.becomes("after undo", one)
		a.undo(reverted("2"))
		a.becomes("after undo typed again", zero)
		if screen := a.screen(); strings.Contains(screen, "done with twice") {
			a.t.Errorf("a message that is taken back is still there:\n%s", screen)
		}
	})
}

func (a openTypist) isNamedInAShell() {
	a.t.Helper()
	before := a.state()
	a.turn("shell.txt")
	a.namedInAShell("would take back", "undo", "--dry-run")
	a.undo(reverted("1"))
	a.becomes("after undo", before)
}

// undoesLate: OpenCode shows the messages as taken back at once; the files follow when the
// store is free, and no message of cairn says that they do not.
func (a openTypist) undoesLate() {
	a.t.Helper()
	before := a.state()
	a.turn("late.txt")
	after := a.state()
	waited, release := a.holdsStore()
	a.undo(reverted("1"))
	for end := time.Now().Add(screenBound); !waited(); time.Sleep(lookPause) {
		if time.Now().After(end) {
			a.t.Fatalf("no hook waits for the store:\n%s", a.screen())
		}
	}
	a.is("while undo waits for the store", after)
	release()
	a.becomes("after an undo that took long", before)
	if text := a.toast(); strings.Contains(text, "not in time") || strings.Contains(text, "nothing to") {
		a.t.Errorf("it says what is not true: %s", text)
	}
	a.undoesInVain()
}

// undoesInVain: the messages are gone, the files are not, and what cairn says brings them
// along.
func (a openTypist) undoesInVain() {
	a.t.Helper()
	before := a.state()
	a.turn("vain.txt")
	after := a.state()
	_, release := a.holdsStore()
	a.undo(reverted("1"))
	said := a.reads("revert" + inVain)
	a.is("after an undo in vain", after)
	release()
	a.cairn("session", "undo", said[strings.LastIndex(said, " ")+1:])
	a.is("after undo in a shell", before)
}

// namesItsOwnUndo: a typed cairn undo would leave the messages, so it names OpenCode's.
func (a openTypist) namesItsOwnUndo() {
	a.t.Helper()
	a.turn("several.txt")
	after := a.state()
	a.commands(func() {
		a.answers("cairn undo 2", `nothing was done: in `+a.title+` /undo and /redo take the files along, one turn each`)
		a.is("after cairn undo 2", after)
	})
}

func (a openTypist) redoes() {
	a.t.Helper()
	a.turn("again-1.txt")
	one := a.state()
	a.turn("again-2.txt")
	two := a.state()
	a.commands(func() {
		a.undo(reverted("1"))
		a.undo(reverted("2"))
		a.redo(reverted("1"))
		a.becomes("after redo", one)
		a.redo(`done with again-2\.txt`)
		a.becomes("after redo typed again", two)
	})
}

// undoesBesideATool: OpenCode's undo first ends the turn and its tools. What the tool has
// written goes with it, and nothing comes later.
func (a openTypist) undoesBesideATool() {
	a.t.Helper()
	before := a.state()
	a.makes(script{shell(waitsForGo("beside-1.txt", "beside-2.txt")), "done with both"}.short(a.t), "beside-1.txt")
	a.undo(reverted("1"))
	a.becomes("after undo beside a tool", before)
	a.tellsToGo("beside-1.txt")
	a.turn("later.txt")
	before["later.txt"] = a.state()["later.txt"]
	a.is("after undo beside a tool and the next turn", before)
}

func (a openTypist) undoesAfterEsc() {
	a.t.Helper()
	before := a.state()
	a.makes(script{shell(waitsForGo("begun.txt", "ended.txt")), "done with ended.txt"}.short(a.t), "begun.txt")
	a.stop()
	a.undo(reverted("1"))
	a.becomes("after Esc and undo", before)
}

// steers types a prompt while a tool runs. What the tool writes after it goes back with the messages.
func (a openTypist) steers() {
	a.t.Helper()
	before := a.state()
	first := script{shell(waitsForGo("steered-1.txt", "steered-2.txt")), "done with steered"}
	a.makes(first.short(a.t), "steered-1.txt")
	a.types(script{"told more"}.short(a.t))
	a.sees("QUEUED")
	a.tellsToGo("steered-1.txt")
	a.sees("told more")
	a.rests("told more")
	a.undo(reverted("1"))
	a.undo(reverted("2"))
	a.becomes("after a prompt beside a tool and undo", before)
}

func (a openTypist) hasNoBackground() {
	a.t.Skipf("NOT TESTED: the bash tool of %s waits for its command, and none runs in the background", a.title)
}

func (a openTypist) tellsWhatGitDid() {
	a.t.Helper()
	a.git("-c", "user.name=dev", "-c", "user.email=dev@example.com", "commit", "-q", "--allow-empty", "-m", "begin")
	branch := a.git("symbolic-ref", "--short", "HEAD")
	before := a.state()
	a.plays(script{shell("git checkout -q -b other; echo x > branched.txt"), "done with branched"})
	a.undo(reverted("1"))
	a.reads(`HEAD was on ` + branch + ` and is on other.*this takes it back: git symbolic-ref HEAD`)
	a.becomes("after undo of a turn that changed the branch", before)
	a.git("symbolic-ref", "HEAD", "refs/heads/"+branch)
}

func (a openTypist) undoesThousands() {
	a.t.Helper()
	before := a.state()
	a.plays(script{shell("mkdir many && cd many && seq 6000 | xargs touch"), "done with many"})
	a.undo(reverted("1"))
	a.becomes("after undo of 6,000 files", before)
}

func (a openTypist) meetsDamage() {
	a.t.Helper()
	a.turn("damaged.txt")
	after := a.state()
	undamage := a.damagesPacks()
	a.undo(reverted("1"))
	a.reads(`revert: .*cairn doctor --fix`)
	a.is("after undo with a damaged store", after)
	undamage()
}

// cannotBeProtected: the store's disk is full. That is said when the session begins and
// when its files do not follow an undo.
func (a openTypist) cannotBeProtected() {
	a.t.Helper()
	a.onAFullDisk(a.opens)
	a.turn("unsaved.txt")
	a.reads(`cairn cannot protect this session, so its changes cannot be taken back: .*no space left`)
	after := a.state()
	a.commands(func() { a.answers("cairn log", `log: .*no space left|was captured: .*no space left`) })
	a.undo(reverted("1"))
	if text := a.reads(`revert: .*no space left`); strings.Contains(text, "nothing to take back") {
		a.t.Errorf("that nothing is there to take back is not true: %s", text)
	}
	a.is("after undo on a full disk", after)
}
