//go:build linux

package e2e

import (
	"regexp"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// notDriven is why a case is left out where nothing is known of the agent's keys for it.
const notDriven = "nothing of this interface beside a running tool is driven"

func TestTerminalCopilot(t *testing.T) {
	needTier(t, 2)
	needTmux(t)
	s, argv := copilotAgent(t)
	a := &typist{terminal: &terminal{sandbox: s}, abs: true, steer: steersCopilot, ready: `\? help`, cannot: map[string]string{
		"undo beside a tool": notDriven, "Esc, then undo": notDriven, "a background command": notDriven,
		"an undo that takes long": notDriven, "a full disk": "Copilot CLI shows no message of a hook at the start of a session",
	}}
	a.everything(argv...)
}

// steersCopilot types a prompt while a tool runs: Copilot CLI lets the command go on in the background, and the turn
// ends. Undo takes what the command wrote then, and after that the turn.
func steersCopilot(a *typist) {
	a.t.Helper()
	before := a.state()
	a.makes(script{shell(waitsForGo("steered-1.txt", "steered-2.txt")), "done with steered"}.short(a.t), "steered-1.txt")
	a.types(script{"told more"}.short(a.t))
	a.sees("told more .*Waiting for background shells")
	during := a.state()
	a.tellsToGo("steered-1.txt")
	a.sees("the script is over")
	gittest.Create(a.t, a.project, gittest.Tree{"users.txt": gittest.File("mine\n")})
	before["users.txt"], during["users.txt"] = a.state()["users.txt"], a.state()["users.txt"]
	a.says("cairn undo", `took back 1 turn: 1 deleted deleted steered-2\.txt`)
	a.is("after undo of what the command wrote", during)
	a.says("cairn undo", `took back 1 turn: 1 deleted deleted steered-1\.txt`)
	a.is("after undo of the turn", before)
}

// TestTerminalCline: Cline's hooks keep no prompt from the model, so a shell beside its terminal takes its
// turns back, one by one, and brings them back. The interface goes on with the files as they are.
func TestTerminalCline(t *testing.T) {
	needTier(t, 2)
	needTmux(t)
	s, argv := clineAgent(t)
	a := &typist{terminal: s.inTerminal(argv...), abs: true}
	a.takesKeys()
	zero := a.state()
	a.turn("one.txt")
	one := a.state()
	a.turn("two.txt")
	two := a.state()
	a.cairn("undo")
	a.is("after an undo of the second turn", one)
	a.cairn("redo")
	a.is("after a redo", two)
	a.cairn("undo")
	a.turn("three.txt")
	a.cairn("undo")
	a.is("after an undo of a turn that came after an undo", one)
	a.cairn("undo")
	a.is("after an undo of the first turn", zero)
}

// takesKeys waits until what is typed arrives in the box: an advertisement takes the first key.
func (a *typist) takesKeys() {
	a.t.Helper()
	rx := regexp.MustCompile(`\bx+ fake`) // below the box stands the model's name
	for end := time.Now().Add(screenBound); time.Now().Before(end); {
		a.keys("x")
		if _, ok := a.looks(rx, enterAgain); !ok {
			continue
		}
		for rx.MatchString(words(a.screen())) && time.Now().Before(end) {
			a.keys("BSpace")
			time.Sleep(lookPause)
		}
		return
	}
	a.t.Fatalf("it takes no keys:\n%s", a.screen())
}
