package conformance

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// asDriver is an argument that makes this program a driver.
const asDriver = "as-driver"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asDriver {
		if err := Serve(os.Stdin, os.Stdout, new(Checkout)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	gittest.Prepare()
	m.Run()
}

func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	t.Parallel()
}

// idle is a driver whose undo does nothing.
type idle struct{ hands }

func (d *idle) Start(dir string) error { d.dir = dir; return nil }

func (d *idle) Turn(_ string, ops []Op) error {
	for _, op := range ops {
		if err := d.do(op); err != nil {
			return err
		}
	}
	return nil
}

func (d *idle) Undo(string) error                    { return nil }
func (d *idle) Redo(string) error                    { return nil }
func (d *idle) KillUndo(string, time.Duration) error { return nil }
func (d *idle) Stop() error                          { return nil }

// reckless is a driver whose undo and redo reset everything.
type reckless struct{ idle }

func (d *reckless) Undo(string) error {
	_, err := d.run("git reset -q --hard && git clean -fdxq")
	return err
}

func (d *reckless) Redo(session string) error { return d.Undo(session) }

// some are the scenarios that a test plays: one in each gittest.Step.
func some(list []Scenario) (played []Scenario) {
	for i := 0; i < len(list); i += gittest.Step() {
		played = append(played, list[i])
	}
	return played
}

// TestEachScenarioCanFail: a faulty driver loses the work of every scenario.
func TestEachScenarioCanFail(t *testing.T) {
	gittest.Long(t)
	needGit(t)
	list, temp := some(Scenarios()), t.TempDir()
	nothing := Run(temp, list, func() Driver { return new(idle) })
	reset := Run(temp, list, func() Driver { return new(reckless) })
	for i, s := range list {
		if nothing[i].Outcome != Loses && reset[i].Outcome != Loses {
			t.Errorf("%s: an undo that does nothing ends with %v, one that resets everything with %v", s.Name, nothing[i], reset[i])
		}
		if got := nothing[i]; got.Outcome == Error || got.Scenario != s.Name {
			t.Errorf("%s: %v", s.Name, got)
		}
	}
	if rest, err := os.ReadDir(temp); err != nil || len(rest) > 0 {
		t.Errorf("left: %v, %v", rest, err)
	}
}

// TestNames: each scenario has a name of its own and says what it is about.
func TestNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range Scenarios() {
		if s.Name == "" || s.About == "" || s.Play == nil || seen[s.Name] {
			t.Errorf("scenario %q, about %q", s.Name, s.About)
		}
		seen[s.Name] = true
	}
}

func pick(t *testing.T, names ...string) []Scenario {
	t.Helper()
	list := slices.DeleteFunc(Scenarios(), func(s Scenario) bool { return !slices.Contains(names, s.Name) })
	if len(list) != len(names) {
		t.Fatalf("%d scenarios of %v", len(list), names)
	}
	return list
}

// lazy is a driver that can do nothing.
type lazy struct{ start, turn, undo error }

func (d *lazy) Start(string) error      { return d.start }
func (d *lazy) Turn(string, []Op) error { return d.turn }
func (d *lazy) Undo(string) error       { return d.undo }
func (d *lazy) Redo(string) error       { return ErrUnsupported }
func (d *lazy) Stop() error             { return nil }

// TestDriversThatCannot: a driver that cannot play a scenario has lost nothing, and kept nothing.
func TestDriversThatCannot(t *testing.T) {
	needGit(t)
	unsupported := fmt.Errorf("%w: no tools", ErrUnsupported)
	for _, c := range []struct {
		scenario string
		driver   lazy
		want     Outcome
		detail   string
	}{
		{"edits", lazy{start: io.ErrUnexpectedEOF}, Error, "start: unexpected EOF"},
		{"edits", lazy{turn: io.ErrUnexpectedEOF}, Error, "turn: unexpected EOF"},
		{"edits", lazy{}, Unsupported, "turn: the agent changed nothing"},
		{"edits", lazy{turn: unsupported}, Unsupported, "turn: unsupported: no tools"},
		{"nothing-changed", lazy{undo: unsupported}, Unsupported, "undo"},
		{"nothing-changed", lazy{undo: io.ErrUnexpectedEOF}, Error, "undo: unexpected EOF"},
		{"nothing-changed", lazy{}, Keeps, ""},
	} {
		got := Run(t.TempDir(), pick(t, c.scenario), func() Driver { d := c.driver; return &d })
		if want := (Result{c.scenario, c.want, c.detail}); got[0] != want {
			t.Errorf("%v, want %v", got[0], want)
		}
	}
}

// noRedo is git checkout without a redo.
type noRedo struct{ Checkout }

func (d *noRedo) Redo(string) error { return ErrUnsupported }

// TestNoRedo: an undo is judged although there is no redo. A scenario about the redo is not played.
func TestNoRedo(t *testing.T) {
	needGit(t)
	got := Run(t.TempDir(), pick(t, "edits", "crlf", "redo-over-user"), func() Driver { return new(noRedo) })
	if got[0] != (Result{"edits", Keeps, "there is no redo"}) || got[1].Outcome != Loses || got[2] != (Result{"redo-over-user", Unsupported, "redo"}) {
		t.Error(got)
	}
}

// TestProgram: a driver that is a program has the outcomes of the same driver in Go.
func TestProgram(t *testing.T) {
	gittest.LongUnlessRace(t)
	needGit(t)
	list := pick(t, "edits", "shell-deletes", "users-same-file", "killed-undo", "levels", "odd-names", "nothing-changed")
	want := Run(t.TempDir(), list, func() Driver { return new(Checkout) })
	got := Run(t.TempDir(), list, func() Driver { return &Program{Args: []string{os.Args[0], asDriver}} })
	if !slices.Equal(got, want) {
		t.Errorf("the program: %v\nin Go: %v", got, want)
	}
	for _, args := range [][]string{{"false"}, {"no-such-driver"}, {"echo", "no JSON"}} {
		if got := Run(t.TempDir(), list[:1], func() Driver { return &Program{Args: args} }); got[0].Outcome != Error {
			t.Errorf("%v: %v", args, got)
		}
	}
}

// TestCairnKeepsAll: cairn keeps the work of all scenarios. Without CAIRN_CRASH it plays one in each gittest.Step.
func TestCairnKeepsAll(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds cairn")
	}
	needGit(t)
	program := filepath.Join(t.TempDir(), "cairn")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/cairn").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, res := range Run(t.TempDir(), some(Scenarios()), func() Driver { return &Cairn{Program: program} }) {
		if res.Outcome != Keeps {
			t.Error(res)
		}
	}
}

// TestTable: the table has the reports of a directory, and names what was lost.
func TestTable(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "results")
	reports := []Report{
		{Driver: "An Agent", About: "its undo", Results: []Result{{"edits", Loses, "a.txt is gone"}, {"rename", Error, "turn: x"}, {"modes", Keeps, ""}, {"crlf", Unsupported, "redo"}}},
		{Driver: "cairn", Results: []Result{{"edits", Keeps, ""}}},
	}
	if err := Save(dir, reports); err != nil {
		t.Fatal(err)
	}
	if err := WriteTable(dir); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, want := range []string{
		"| work | cairn | An Agent |", "`edits`: a file that a tool wrote, one that it edited | kept | **lost** |", "| – | error |",
		"| **kept of those played** | 1 of 1 | 1 of 3 |", "its undo", "The run ended early: 1 of ", "- `edits`: loses: a.txt is gone", "- `crlf`: unsupported: redo",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
}
