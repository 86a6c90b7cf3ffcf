package session_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// blameModel plays agents, the user, operations and renames on one file. Each text is written once,
// so the model knows who wrote a line by its text, whatever went back and forth since.
type blameModel struct {
	*fixture
	random  *rand.Rand
	file    string            // where it is now
	authors map[string]string // by text: "user", or session and step
	texts   int
	open    string         // session of the step that may change the file, "" for none
	step    int            // number of the last step
	agents  []string       // sessions
	beside  map[string]int // open steps of sessions that name another file
	log     []string
}

func (m *blameModel) note(format string, args ...any) {
	m.log = append(m.log, fmt.Sprintf(format, args...))
}

// present returns the lines on disk.
func (m *blameModel) present() []string {
	text := m.read(m.file)
	if text == "" || text == "(absent)" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// edit replaces, inserts and deletes lines of the file, in the name of who writes now.
func (m *blameModel) edit() {
	who := "user"
	if m.open != "" {
		source, _, _ := strings.Cut(m.open, "+")
		who = fmt.Sprint(source, " ", m.step)
	}
	lines := m.present()
	for range 1 + m.random.IntN(3) {
		at := m.random.IntN(len(lines) + 1)
		drop := 0
		if at < len(lines) && m.random.IntN(2) == 0 {
			drop = 1
		}
		m.texts++
		text := fmt.Sprint("text ", m.texts)
		m.authors[text] = who
		lines = slices.Replace(lines, at, at+drop, text)
	}
	m.write(m.file, strings.Join(lines, "\n")+"\n")
	m.note("%s edits: %q", who, lines)
}

// move renames the file.
func (m *blameModel) move() {
	if len(m.present()) == 0 {
		return
	}
	m.track() // a move with many edits would be a new file
	m.texts++
	to := fmt.Sprint("dir/name", m.texts)
	if err := os.MkdirAll(m.path("dir"), 0o755); err != nil {
		m.Fatal(err)
	}
	if err := os.Rename(m.path(m.file), m.path(to)); err != nil {
		m.Fatal(err)
	}
	m.note("%s becomes %s", m.file, to)
	m.file = to
	if err := m.check(); err != nil {
		m.Fatalf("after a move: %v\n%s", err, strings.Join(m.log, "\n"))
	}
	m.track()
}

func (m *blameModel) agent() string { return m.agents[m.random.IntN(len(m.agents))] }

// act plays one action. While a step may change the file, nothing else does.
func (m *blameModel) act() {
	switch n := m.random.IntN(30); {
	case n < 8:
		m.edit()
	case n < 9:
		m.move()
	case n < 12:
		m.track()
	case n < 20:
		m.stepOn()
	case n < 23:
		m.workBeside()
	case m.open != "":
		m.edit()
	case n < 28:
		m.goBack(n)
	case n < 29:
		m.fork()
	default:
		m.reopen()
	}
}

func (m *blameModel) track() {
	made, err := m.repo.Track(background, cairn.TrackOptions{})
	if err != nil {
		m.Fatal(err)
	}
	m.note("track %.8s", made.Checkpoint)
}

// stepOn begins or ends the step that changes the file.
func (m *blameModel) stepOn() {
	if m.open != "" {
		m.end(m.open, fmt.Sprint(m.step))
		m.endBeside() // later edits are the user's
		m.note("step %d of %s ends", m.step, m.open)
		m.open = ""
		return
	}
	id := m.agent()
	if m.beside[id] > 0 {
		return
	}
	m.step++
	m.open = id
	_, err := m.BeginStep(background, session.StepBegin{
		Session: id, Message: fmt.Sprint("m", m.step), Role: session.RoleUser, Step: fmt.Sprint(m.step), Paths: []string{"dir", "file"},
		Prompt: fmt.Sprint("prompt ", m.step), Meta: map[string]string{session.MetaAgent: "agent " + id},
	})
	if err != nil {
		m.Fatal(err)
	}
	m.note("step %d of %s begins", m.step, id)
}

// workBeside begins or ends a step of another session, that names another file. Its captures see
// the file in the middle of the step that changes it.
func (m *blameModel) workBeside() {
	const id = "beside"
	m.write("other", fmt.Sprint(m.random.Uint64()))
	if m.beside[id] > 0 || m.open == "" {
		m.endBeside() // the user's edits would count as those of the only open step
		return
	}
	m.beside[id] = m.step
	m.begin(id, fmt.Sprint("b", m.step), fmt.Sprint("b", m.step), "other")
	m.note("step beside begins")
}

func (m *blameModel) endBeside() {
	if m.beside["beside"] > 0 {
		m.end("beside", fmt.Sprint("b", m.beside["beside"]))
		m.beside["beside"] = 0
		m.note("step beside ends")
	}
}

// goBack plays one way back. A way that there is not now is none.
func (m *blameModel) goBack(n int) {
	m.endBeside()
	var err error
	what := ""
	switch n {
	case 23:
		what = "undo"
		_, err = m.repo.Undo(background, cairn.RevertOptions{})
	case 24:
		what = "redo"
		_, err = m.repo.Redo(background, cairn.RevertOptions{})
	case 25:
		what = fmt.Sprint("restore @~", m.random.IntN(8))
		_, err = m.repo.Restore(background, strings.TrimPrefix(what, "restore "), cairn.RestoreOptions{})
	case 26:
		what = "session undo"
		_, _, err = m.UndoTurn(background, m.agent(), session.MoveOptions{})
	default:
		what = "session redo"
		_, _, err = m.RedoTurn(background, m.agent(), session.MoveOptions{})
	}
	if err != nil && !errors.Is(err, cairn.ErrNotFound) && !errors.Is(err, session.ErrNotFound) {
		m.note("%s: %v", what, err)
		return
	}
	m.find()
	m.note("%s (%v): %q", what, err, m.present())
}

// find finds the file after a way back.
func (m *blameModel) find() {
	names := []string{"file"}
	for i := range m.texts + 1 {
		names = append(names, fmt.Sprint("dir/name", i))
	}
	m.file = "file"
	for _, name := range names {
		if m.read(name) != "(absent)" {
			m.file = name
		}
	}
}

func (m *blameModel) fork() {
	from := m.agent()
	id := fmt.Sprint(from, "+", len(m.agents))
	if _, err := m.Fork(background, from, "", id); err == nil {
		m.agents = append(m.agents, id)
		m.note("fork %s", id)
	}
}

// check compares the blame of the disk with the authors that the model knows.
func (m *blameModel) check() error {
	lines := m.present()
	b, err := m.Blame(background, m.file, cairn.BlameOptions{Deleted: true})
	if err != nil {
		if len(lines) == 0 && errors.Is(err, cairn.ErrNotFound) {
			return nil
		}
		return err
	}
	if len(b.Lines) != len(lines) {
		return fmt.Errorf("%d lines instead of %d", len(b.Lines), len(lines))
	}
	there := make(map[string]bool)
	for i, l := range b.Lines {
		there[l.Text] = true
		if got := authorOf(&b.Origins[l.Origin]); l.Text != lines[i] || got != m.authors[l.Text] {
			return fmt.Errorf("line %d, %q, is of %q, not %q (%+v)", i+1, l.Text, got, m.authors[l.Text], b.Origins[l.Origin])
		}
		if w := b.Origins[l.Origin].Work; w != nil && (w.Prompt != "prompt "+w.Step || !strings.HasPrefix(w.Agent, "agent ")) {
			return fmt.Errorf("line %q has work %+v", l.Text, w)
		}
	}
	for _, d := range b.Deleted {
		if got := authorOf(&b.Origins[d.Origin]); there[d.Text] || got != m.authors[d.Text] {
			return fmt.Errorf("deleted %q is of %q, not %q; there: %v", d.Text, got, m.authors[d.Text], there[d.Text])
		}
	}
	return nil
}

func authorOf(o *session.BlameOrigin) string {
	if o.Author != session.AuthorAgent {
		return o.Author
	}
	// A fork has the steps of its source.
	name, _, _ := strings.Cut(o.Work.Session, "+")
	return name + " " + o.Work.Step
}

// TestBlameAgainstModel plays random histories and compares every line of the file, deleted ones
// included, with who wrote it.
func TestBlameAgainstModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(gittest.Rounds(60)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := &blameModel{
				fixture: newFixture(t, gittest.Tree{"other": gittest.File("x")}), random: rand.New(rand.NewPCG(seed, 22)), file: "file",
				authors: make(map[string]string), agents: []string{"a", "b"}, beside: make(map[string]int),
			}
			m.track()
			for range 60 {
				m.act()
				if m.random.IntN(6) > 0 {
					continue
				}
				if err := m.check(); err != nil {
					t.Fatalf("%v\n%s", err, strings.Join(m.log, "\n"))
				}
			}
		})
	}
}
