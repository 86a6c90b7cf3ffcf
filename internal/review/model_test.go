package review

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/seed-fb9cbc17/cairn/internal/reviewed"
)

// TestMoving: every key at every size leaves a screen of the right size, whatever is selected.
func TestMoving(t *testing.T) {
	t.Parallel()
	keys := strings.Fields("down enter down enter ] j pgdown s s [ } { > < tab tab tab G g a a x n f esc / esc ? down esc m R X esc u y ctrl+r esc esc esc end home")
	for w := range []int{0, 1, 2, 3, 4} {
		for _, h := range []int{1, 2, 3, 5, 8, 13, 24} {
			d := drive(t, newFake(), []int{20, 79, 80, 100, 201}[w], h, Options{})
			for range 3 {
				d.keys(keys...)
			}
		}
	}
}

// TestResize: the selection survives every size.
func TestResize(t *testing.T) {
	t.Parallel()
	d := drive(t, newFake(), 200, 50, Options{})
	d.keys("G", "k", "enter", "j", "enter", "]")
	for _, size := range [][2]int{{80, 24}, {10, 3}, {120, 5}, {200, 50}} {
		d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
	}
	d.wants("server.go  hunk 2 of 3")
}

// TestNarrow: a list without room for counts and times still names its turns and files.
func TestNarrow(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.texts["m1"]["server.go"] = [2]string{"", strings.Repeat("line\n", 1000000)}
	d := drive(t, f, 20, 6, Options{})
	d.wants("Escape the odd")
	d.keys("down", "down", "enter", "down")
	d.wants("server.go")
}

// TestShortWidePath: half a wide character is no reason to lose the end of a path.
func TestShortWidePath(t *testing.T) {
	t.Parallel()
	for width := 6; width < 30; width++ {
		got := shortPath(strings.Repeat("日", 20)+".txt", width)
		if n := ansi.StringWidth(got); n > width || !strings.HasSuffix(got, ".txt") {
			t.Errorf("width %d: %q has %d columns", width, got, n)
		}
	}
}

// TestQuitWaitsForTheChange: q while files are being changed quits after that, and not if that fails.
func TestQuitWaitsForTheChange(t *testing.T) {
	t.Parallel()
	for _, fails := range []error{nil, errFake} {
		f := newFake()
		d := drive(t, f, 120, 40, Options{})
		d.keys("G", "k", "x")
		_, change := d.Update(tea.KeyPressMsg{Text: "y", Code: 'y'})
		if _, cmd := d.Update(tea.KeyPressMsg{Text: "q", Code: 'q'}); cmd != nil {
			t.Fatalf("q does something in the midst of a change: %T", cmd())
		}
		d.wants("changing files, then the end")
		f.fails = fails
		_, after := d.Update(change())
		if fails == nil && (after == nil || after() != tea.Quit()) {
			t.Error("the review goes on after the change")
		}
		if fails != nil {
			d.do(after)
			d.wants(`the disk is gone`)
		}
	}
}

// TestInterruptedChange: Ctrl-C in the midst of a change is an interrupt, not the end of a review.
func TestInterruptedChange(t *testing.T) {
	t.Parallel()
	d := drive(t, newFake(), 120, 40, Options{})
	d.keys("G", "k", "x")
	if err := outcome(d.Model, nil); err != nil {
		t.Errorf("a plan alone: %v", err)
	}
	_, change := d.Update(tea.KeyPressMsg{Text: "y", Code: 'y'})
	if _, cmd := d.Update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}); cmd == nil || cmd() != tea.Quit() {
		t.Error("Ctrl-C does not quit")
	}
	if err := outcome(d.Model, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("in the midst of a change: %v", err)
	}
	d.send(change())
	if err := outcome(d.Model, nil); err != nil {
		t.Errorf("after the change: %v", err)
	}
}

// TestNothingRawReachesTheTerminal: of all bytes below a blank the screens have only the ends of
// lines and the looks of the program itself.
func TestNothingRawReachesTheTerminal(t *testing.T) {
	t.Parallel()
	var every strings.Builder
	for c := range 256 {
		if c != '\n' {
			every.WriteByte(byte(c))
		}
	}
	text := every.String() + "\u009b31m\u202e\u2028\ufeff\u0085"
	s := &Session{ID: text, Title: text, Agent: text, Updated: noon}
	turn := &Turn{Session: s, ID: "m", Prompt: text, Agent: text, When: noon, Paths: []string{text}}
	f := &fake{sessions: []*Session{s}, turns: map[string][]*Turn{text: {turn}}, marks: map[reviewed.Mark]bool{},
		texts: map[string]map[string][2]string{"m": {text: {text + "\n", text + text + "\n"}}}, result: newFake().result}
	f.result.Plan[0].Path, f.result.Conflicts[0].Path, f.result.Conflicts[0].Reason = "p"+pathOf(text), pathOf(text), text
	d := drive(t, f, 120, 40, Options{Project: text})
	for _, key := range []string{"", "enter", "enter", "s", ">", "x", "esc", "f"} {
		if key != "" {
			d.keys(key)
		}
		d.send(tea.PasteMsg{Content: text})
		for _, r := range d.plainScreen() {
			if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == '\ufffd' || r == '\u202e' || r == '\u2028' || r == '\ufeff') {
				t.Fatalf("after %q the screen has %U", key, r)
			}
		}
	}
	d.keys("esc")
	f.fails = errFake
	d.keys("a", "x")
	d.wants(`the disk is gone\x1b[2J`)
}

// TestAccept: the decisions of a hunk, a file and a turn are remembered and shown, and the same key
// takes them back.
func TestAccept(t *testing.T) {
	t.Parallel()
	f := newFake()
	d := drive(t, f, 120, 40, Options{})
	d.keys("G", "k", "enter", "j", "enter", "a")
	d.wants("1 hunk accepted", "✓ accepted", "hunk 2 of 3")
	if len(f.marks) != 1 {
		t.Fatalf("remembered: %v", f.marks)
	}
	d.keys("esc", "a")
	d.wants("3 hunks accepted", "✓ M server.go")
	d.keys("esc", "a")
	d.wants("4 hunks accepted", "✓ Rename the timeout")
	if len(f.marks) != 5 {
		t.Errorf("remembered: %v", f.marks)
	}
	again := drive(t, f, 120, 40, Options{})
	again.keys("G", "k")
	again.wants("✓ Rename the timeout", "✓ M README.md")
	again.keys("a")
	again.wants("4 hunks no longer accepted")
	if len(f.marks) != 0 {
		t.Errorf("still remembered: %v", f.marks)
	}
}

// TestAcceptFails: where a decision cannot be stored, the screen says so and shows what is stored.
func TestAcceptFails(t *testing.T) {
	t.Parallel()
	f := newFake()
	d := drive(t, f, 120, 40, Options{})
	d.keys("G", "k", "enter", "enter")
	f.fails = errFake
	d.keys("a")
	d.wants(`the disk is gone\x1b[2J`)
	if strings.Contains(d.plainScreen(), "✓") {
		t.Errorf("shown as accepted:\n%s", d.plainScreen())
	}
}

// TestTakeBack: nothing is done without a plan and an answer, and then that plan is carried out.
func TestTakeBack(t *testing.T) {
	t.Parallel()
	f := newFake()
	d := drive(t, f, 120, 40, Options{})
	d.keys("G", "k", "x")
	d.wants("Take back this turn only: 4 hunks in 2 files; later turns stay", "Conflicts", "README.md: changed since", "modify  server.go")
	d.keys("n")
	d.wants("nothing was changed")
	d.keys("x", "y")
	d.wants("done: 1 path restored", "1 left alone: README.md")
	plans := []string{"", "", f.result.PlanID}
	for i, a := range f.done {
		if a.Verb != TakeBack || a.Turn.ID != "m1" || len(a.Hunks) != 4 || a.Plan != plans[i] {
			t.Errorf("%d: %+v", i, a)
		}
	}
	d.keys("enter", "j", "enter", "]", "x")
	d.wants("Take back 1 hunk of server.go")
	if last := f.done[len(f.done)-1]; len(last.Hunks) != 1 || last.Hunks[0].Path != "server.go" || last.Whole {
		t.Errorf("%+v", last)
	}
}

// TestNarrowPlan: a plan that is to be confirmed, and the help, hide nothing on a narrow terminal.
func TestNarrowPlan(t *testing.T) {
	t.Parallel()
	f := newFake()
	long := strings.Repeat("deep/", 20)
	f.result.Plan[0].Path = pathOf(long + "this-one.go")
	f.result.Conflicts[0].Path, f.result.Conflicts[0].Reason = pathOf(long+"other.go"), "changed since, by another process, at the last line"
	d := drive(t, f, 40, 20, Options{})
	read := func() string {
		seen := map[string]bool{}
		var whole strings.Builder
		for range 40 {
			for line := range strings.Lines(d.plainScreen()) {
				if line = strings.TrimSpace(line); !seen[line] {
					seen[line] = true
					whole.WriteString(strings.ReplaceAll(line, " ", ""))
				}
			}
			d.keys("down")
		}
		return whole.String()
	}
	d.keys("G", "k", "x")
	shown := read()
	for _, part := range []string{"this-one.go", "other.go: changed since", "process, at the last line"} {
		if !strings.Contains(shown, strings.ReplaceAll(part, " ", "")) {
			t.Errorf("the plan lacks %q:\n%s", part, shown)
		}
	}
	d.keys("esc", "?")
	shown = read()
	for _, part := range []string{"hunk, the file", "turn; again: no longer", "path:PART words"} {
		if !strings.Contains(shown, strings.ReplaceAll(part, " ", "")) {
			t.Errorf("the help lacks %q:\n%s", part, shown)
		}
	}
}

// TestGoBackAndUndo: the plan says what it is about.
func TestGoBackAndUndo(t *testing.T) {
	t.Parallel()
	f := newFake()
	d := drive(t, f, 120, 40, Options{})
	d.keys("G", "k", "X")
	d.wants("Go back to before this turn: it and the 2 turns after it")
	d.keys("y")
	d.keys("u")
	d.wants("Undo the last operation")
	d.keys("esc", "ctrl+r")
	d.wants("Redo what was undone")
	f.result.Plan = nil
	d.keys("esc", "u")
	d.wants("No file has to be changed.", "Enter: back")
	done := len(f.done)
	d.keys("enter")
	if len(f.done) != done {
		t.Errorf("an empty plan was carried out: %+v", f.done[done:])
	}
}

// TestKeptPlace: a reload keeps the selected turn and file.
func TestKeptPlace(t *testing.T) {
	t.Parallel()
	f := newFake()
	d := drive(t, f, 120, 40, Options{})
	d.keys("G", "k", "enter", "j")
	f.turns["0c5e"] = slices.Insert(f.turns["0c5e"], 0, &Turn{Session: f.sessions[0], ID: "m4", Prompt: "A newer one", When: noon})
	d.keys("R")
	d.wants("A newer one", "server.go  hunk 1 of 3")
	f.sessions = nil
	d.keys("R")
	d.wants("no session has been recorded here yet")
}

// TestFilterAndSearch: words select turns by session, agent, path and prompt; a search goes on from
// where it is, and around.
func TestFilterAndSearch(t *testing.T) {
	t.Parallel()
	d := drive(t, newFake(), 120, 40, Options{})
	for text, want := range map[string][]string{
		"agent:codex": {"n1"}, "session:0c5e path:server": {"m1"}, "ESCAPE": {"m2"}, "session:configurable": {"m3", "m2", "m1"}, "path:nowhere": nil,
	} {
		d.keys("f", "ctrl+u")
		d.typed(text)
		d.keys("enter")
		var got []string
		for _, r := range d.rows {
			if id := r.turnID(); id != "" {
				got = append(got, id)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	d.keys("f", "ctrl+u", "enter", "/")
	d.typed("TIDY")
	d.keys("enter")
	if d.turn.ID != "n1" {
		t.Errorf("found %s", d.turn.ID)
	}
	d.keys("/")
	d.typed("nowherf")
	d.keys("backspace")
	d.typed("e")
	d.keys("enter")
	d.wants("not found: nowhere")
	d.keys("g", "j", "j", "enter", "j", "enter", "/")
	d.typed("n += ")
	d.keys("enter", "n", "N")
	if line := d.view.lines[d.hunk.at]; line.text != "\t\tn += i" {
		t.Errorf("found %q", line.text)
	}
}

// TestLateAnswers: the answer for a turn or a file that is no longer selected changes nothing, and
// its work has ended.
func TestLateAnswers(t *testing.T) {
	t.Parallel()
	d := drive(t, newFake(), 120, 40, Options{})
	_, late := d.Update(tea.KeyPressMsg{Text: "j", Code: 'j'})
	d.keys("j")
	shown := d.screen()
	d.do(late)
	if d.screen() != shown {
		t.Errorf("a late answer is shown:\n%s", d.plainScreen())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newFileView(ctx, &emptyDiff); err == nil {
		t.Error("work goes on after its end")
	}
}

// TestLoadsLazily: of a thousand turns only the selected one is read.
func TestLoadsLazily(t *testing.T) {
	t.Parallel()
	f := many(1000, 10)
	d := drive(t, f, 120, 40, Options{})
	d.wants("1000 turns")
	if f.diffs > 3 {
		t.Errorf("%d files were read", f.diffs)
	}
}

// TestLooks: the terminal tells its colours and its background.
func TestLooks(t *testing.T) {
	t.Parallel()
	d := drive(t, newFake(), 80, 24, Options{Colours: ManyColours, Dark: true})
	for profile, want := range map[colorprofile.Profile]*palette{
		colorprofile.TrueColor: &dark, colorprofile.ANSI256: &dark, colorprofile.ANSI: &sixteen, colorprofile.ASCII: &monochrome, colorprofile.NoTTY: &monochrome,
	} {
		d.send(tea.ColorProfileMsg{Profile: profile})
		if d.look != want {
			t.Errorf("%v has another look", profile)
		}
	}
	d.send(tea.ColorProfileMsg{Profile: colorprofile.ANSI256})
	d.send(tea.BackgroundColorMsg{Color: white})
	if d.look != &light {
		t.Error("a light background has another look")
	}
}

// TestMouse: the wheel moves in the pane below it, and a click selects.
func TestMouse(t *testing.T) {
	t.Parallel()
	d := drive(t, newFake(), 120, 40, Options{Mouse: true})
	if d.View().MouseMode == tea.MouseModeNone {
		t.Error("the mouse is off")
	}
	d.send(tea.MouseClickMsg{X: 5, Y: 4, Button: tea.MouseLeft})
	if d.turn.ID != "m1" {
		t.Errorf("selected %s", d.turn.ID)
	}
	d.send(tea.MouseClickMsg{X: 5, Y: d.boxes().files.y + 2, Button: tea.MouseLeft})
	d.wants("server.go  hunk 1 of 3")
	d.send(tea.MouseWheelMsg{X: 80, Y: 20, Button: tea.MouseWheelDown})
	if d.focus != hunksPane || d.hunk.at != wheelLines {
		t.Errorf("pane %d, line %d", d.focus, d.hunk.at)
	}
	d.keys("m")
	if d.View().MouseMode != tea.MouseModeNone {
		t.Error("the mouse is still on")
	}
}

// TestBeginsAt: a review begins with the session and the turn that it was asked for.
func TestBeginsAt(t *testing.T) {
	t.Parallel()
	d := drive(t, newFake(), 120, 40, Options{Session: "0c5e", Turn: "m2"})
	if d.turn.ID != "m2" || len(d.Model.sessions) != 1 {
		t.Errorf("began with %s of %d sessions", d.turn.ID, len(d.Model.sessions))
	}
	d = drive(t, newFake(), 120, 40, Options{Session: "0c5e", Turn: "no such"})
	if d.turn == nil || d.turn.ID != "m3" {
		t.Errorf("began with %v", d.turn)
	}
	f := newFake()
	f.texts["a..b"] = f.texts["m1"]
	d = drive(t, f, 120, 40, Options{Range: &Turn{Session: &Session{}, ID: "a..b", When: noon.Add(-time.Hour)}})
	d.wants("README.md", "1 turn")
	d.keys("X")
	d.wants("these are two checkpoints")
	d.keys("x")
	d.wants("Take back what changed between the checkpoints: 4 hunks in 2 files; later changes stay")
}
