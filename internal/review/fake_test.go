package review

import (
	"context"
	"errors"
	"fmt"
	"image/color"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/hunk"
	"github.com/seed-fb9cbc17/cairn/internal/reviewed"
)

// fake is a Source of literal turns.
type fake struct {
	sessions []*Session
	turns    map[string][]*Turn              // by session
	texts    map[string]map[string][2]string // by turn and path: before and after
	marks    map[reviewed.Mark]bool
	result   cairn.Result // of every plan
	done     []Action
	diffs    int // that were asked for
	fails    error
}

func (f *fake) Sessions(context.Context) ([]*Session, error)         { return f.sessions, f.fails }
func (f *fake) Turns(_ context.Context, s *Session) ([]*Turn, error) { return f.turns[s.ID], nil }
func (f *fake) Marks(context.Context) ([]reviewed.Mark, error) {
	return slices.Collect(maps.Keys(f.marks)), nil
}

func (f *fake) Files(_ context.Context, t *Turn) (files []File, err error) {
	for _, path := range slices.Sorted(maps.Keys(f.texts[t.ID])) {
		files = append(files, File{Change: cairn.Change{Path: path, Status: cairn.Modified, OldMode: 0o100644, NewMode: 0o100644, OldID: t.ID}})
	}
	return files, nil
}

func (f *fake) Count(file *File) error {
	d, err := f.Diff(context.Background(), file)
	if err == nil {
		file.Additions, file.Deletions = d.Additions, d.Deletions
	}
	return err
}

func (f *fake) Diff(ctx context.Context, file *File) (*cairn.FileDiff, error) {
	f.diffs++
	texts := f.texts[file.Change.OldID][file.Change.Path]
	d := &cairn.FileDiff{File: cairn.Path(file.Change.Path), Before: texts[0], After: texts[1]}
	for _, p := range hunk.Of(file.Change.Path, []byte(texts[0]), []byte(texts[1])) {
		d.Hunks = append(d.Hunks, p.Hunk)
		for _, line := range p.Lines {
			d.Additions += strings.Count(line[:1], "+")
			d.Deletions += strings.Count(line[:1], "-")
		}
	}
	return d, ctx.Err()
}

func (f *fake) Taken(context.Context, *Turn, *File, *cairn.FileDiff) ([]string, error) {
	return nil, nil
}

func (f *fake) ChangeMarks(_ context.Context, remove, add []reviewed.Mark) error {
	if f.fails != nil {
		return f.fails
	}
	for _, m := range remove {
		delete(f.marks, m)
	}
	for _, m := range add {
		f.marks[m] = true
	}
	return nil
}

func (f *fake) Do(_ context.Context, a Action) (*cairn.Result, error) {
	f.done = append(f.done, a)
	result := f.result
	result.DryRun = a.Plan == ""
	return &result, f.fails
}

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const serverBefore = `package server

import "fmt"

// Handler answers requests.
type Handler struct {
	name    string
	timeout int
}

/* Greet says hello
   to a name. */
func (h *Handler) Greet() string {
	return fmt.Sprintf("hello %s", h.name)
}

func sum(n int) int {
	for i := 0; i < n; i++ {
		n += i
	}
	return n
}
`

var serverAfter = strings.NewReplacer("timeout int", "deadline int\n\tport    int", `"hello %s", h.name`, `"hello %s on port %d", h.name, h.port`, "n += i", "n += 2 * i").Replace(serverBefore)

// newFake has two sessions, some odd names and bytes, and a turn without changes.
func newFake() *fake {
	first := &Session{ID: "0c5e", Title: "Make the server configurable", Agent: "claude", Updated: noon.Add(-2 * time.Hour), Turns: 3}
	second := &Session{ID: "77aa", Agent: "codex", Updated: noon.Add(-50 * time.Hour), Turns: 1}
	turn := func(s *Session, id, prompt string, ago time.Duration, later int, paths ...string) *Turn {
		return &Turn{Session: s, ID: id, Number: 1, Prompt: prompt, Agent: s.Agent, When: noon.Add(-ago), Steps: len(paths), Later: later, Paths: paths}
	}
	f := &fake{sessions: []*Session{first, second}, marks: make(map[reviewed.Mark]bool)}
	f.turns = map[string][]*Turn{
		first.ID: {
			turn(first, "m3", "What does \x1b[31mthis\x1b[m do?", 2*time.Hour, 0),
			turn(first, "m2", "Escape the odd bytes", 3*time.Hour, 1, "odd\x1b]0;x\a\xff.txt"),
			turn(first, "m1", "Rename the timeout field and add a port to the handler,\nthen document both in the README please, with an example for each of them", 4*time.Hour, 2, "README.md", "server.go"),
		},
		second.ID: {turn(second, "n1", "Tidy up", 50*time.Hour, 0, "a.txt")},
	}
	f.texts = map[string]map[string][2]string{
		"m1": {"server.go": {serverBefore, serverAfter}, "README.md": {"# Server\n\nA server.\n", "# Server\n\nA server.\n\nSet `port`.\n"}},
		"m2": {"odd\x1b]0;x\a\xff.txt": {"tab\there\n\x1b[31mred\x1b[m\nwide 日本語\n\xff\xfe bytes\r\n\u202eright\n", "tab\there\n\x1b[32mgreen\x1b[m\nwide 日本語!\n\xff\xfd bytes\r\n\u202eleft\n"}},
		"n1": {"a.txt": {"one\ntwo\n", "one\n"}},
	}
	f.result = cairn.Result{
		PlanID: "0123456789abcdef", Restored: cairn.Paths{"server.go"},
		Plan:      []cairn.PlannedChange{{Path: "server.go", Action: "modify", Bytes: 363}},
		Conflicts: []cairn.PathReason{{Path: "README.md", Reason: "changed since"}},
	}
	return f
}

// driven is a review whose commands run at once.
type driven struct {
	*Model
	*fake
	t     testing.TB
	moves int
}

func drive(t testing.TB, f *fake, width, height int, opt Options) *driven {
	opt.Source, opt.Project = f, "project"
	if opt.Now == nil {
		opt.Now = func() time.Time { return noon }
	}
	d := &driven{Model: New(context.Background(), opt), fake: f, t: t}
	d.do(d.Init())
	d.send(tea.WindowSizeMsg{Width: width, Height: height})
	return d
}

// do runs a command and all that follow from it.
func (d *driven) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			d.do(c)
		}
	default:
		d.send(msg)
	}
}

func (d *driven) send(msg tea.Msg) {
	_, cmd := d.Update(msg)
	d.do(cmd)
	d.check()
}

// check draws the screen: it has exactly the lines and the columns of the terminal.
func (d *driven) check() {
	d.t.Helper()
	lines := strings.Split(d.screen(), "\n")
	if len(lines) > d.height {
		d.t.Fatalf("the screen has %d lines of %d", len(lines), d.height)
	}
	for i, line := range lines {
		if n := width(line); n != d.width {
			d.t.Fatalf("line %d has %d columns of %d: %q", i, n, d.width, line)
		}
	}
}

var namedKeys = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace, "space": tea.KeySpace,
}

// keys presses keys: names, ctrl+ and a letter, or one character.
func (d *driven) keys(names ...string) {
	d.t.Helper()
	for _, name := range names {
		key := tea.KeyPressMsg{Text: name, Code: []rune(name)[0]}
		if letter, ok := strings.CutPrefix(name, "ctrl+"); ok {
			key = tea.KeyPressMsg{Code: []rune(letter)[0], Mod: tea.ModCtrl}
		} else if code, ok := namedKeys[name]; ok {
			key = tea.KeyPressMsg{Code: code}
		}
		d.moves++
		d.send(key)
	}
}

func (d *driven) typed(text string) {
	d.t.Helper()
	for _, r := range text {
		d.send(tea.KeyPressMsg{Text: string(r), Code: r})
	}
}

// plainScreen is the screen without looks.
func (d *driven) plainScreen() string { return stripped(d.screen()) }

func (d *driven) wants(texts ...string) {
	d.t.Helper()
	for _, text := range texts {
		if !strings.Contains(d.plainScreen(), text) {
			d.t.Errorf("the screen lacks %q:\n%s", text, d.plainScreen())
		}
	}
}

var errFake = errors.New("the disk is gone\x1b[2J")

// many makes a source with n turns in sessions of the same size.
func many(n, perSession int) *fake {
	f := &fake{turns: make(map[string][]*Turn), texts: make(map[string]map[string][2]string), marks: make(map[reviewed.Mark]bool)}
	for i := range n / perSession {
		s := &Session{ID: fmt.Sprint("s", i), Title: fmt.Sprint("Session ", i), Updated: noon}
		f.sessions = append(f.sessions, s)
		for j := range perSession {
			id := fmt.Sprintf("%d.%d", i, j)
			f.turns[s.ID] = append(f.turns[s.ID], &Turn{Session: s, ID: id, Prompt: "Prompt " + id, When: noon, Paths: []string{"a"}})
			f.texts[id] = map[string][2]string{"a": {"1\n", "2\n"}}
		}
	}
	return f
}

func pathOf(text string) cairn.Path { return cairn.Path(text) }

var (
	emptyDiff cairn.FileDiff
	white     = color.White
)
