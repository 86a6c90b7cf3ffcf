package session_test

import (
	"errors"
	"fmt"
	"io"
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
	newline string            // of a line: "\n" or "\r\n"
	still   bool              // the file never moves, so that all its checkpoints belong to it
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
	return strings.Split(strings.TrimSuffix(text, m.newline), m.newline)
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
	m.write(m.file, strings.Join(lines, m.newline)+m.newline)
	m.note("%s edits: %q", who, lines)
}

// move renames the file.
func (m *blameModel) move() {
	if m.still || len(m.present()) == 0 {
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
	switch n := m.random.IntN(33); {
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
	case n < 31:
		m.goBack(n)
	case n < 32:
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
	case 28:
		from := m.random.IntN(6)
		what = fmt.Sprint("revert @~", from+1+m.random.IntN(3), " to @~", from)
		var in cairn.Range
		in.From, in.To, _ = strings.Cut(strings.TrimPrefix(what, "revert "), " to ")
		_, err = m.repo.Revert(background, in, cairn.RevertOptions{})
	case 29:
		what = "revert of a hunk"
		err = m.revertHunk()
	case 30:
		what = "session revert"
		err = m.revertMessage()
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

// revertHunk takes one hunk of a range back, and merges later edits.
func (m *blameModel) revertHunk() error {
	from := m.random.IntN(6)
	in := cairn.Range{From: fmt.Sprint("@~", from+1), To: fmt.Sprint("@~", from)}
	var hunks []string
	for d, err := range m.repo.DiffFull(background, in.From, in.To, cairn.DiffOptions{Hunks: true}) {
		if err != nil {
			return err
		}
		for _, h := range d.Hunks {
			hunks = append(hunks, h.ID)
		}
	}
	if len(hunks) == 0 {
		return nil
	}
	_, err := m.repo.Revert(background, in, cairn.RevertOptions{Hunks: []string{hunks[m.random.IntN(len(hunks))]}})
	return err
}

// revertMessage takes back a message of a session and all after it.
func (m *blameModel) revertMessage() error {
	id := m.agent()
	list, err := m.History(background, id)
	if err != nil || len(list) == 0 {
		return err
	}
	_, _, err = m.Revert(background, id, session.Target{Message: list[m.random.IntN(len(list))].ID}, session.MoveOptions{})
	return err
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
	if err := m.checkLines(b, lines); err != nil {
		return err
	}
	told := make(map[string]bool)
	for _, d := range b.Deleted {
		text := strings.TrimSuffix(d.Text, "\r")
		if got := authorOf(&b.Origins[d.Origin]); slices.Contains(lines, text) || got != m.authors[text] {
			return fmt.Errorf("deleted %q is of %q, not %q; there: %v", text, got, m.authors[text], slices.Contains(lines, text))
		}
		if told[text] {
			return fmt.Errorf("deleted %q is told twice", text)
		}
		told[text] = true
	}
	if m.still {
		return m.checkAllDeleted(told, lines)
	}
	return nil
}

// checkLines compares the lines of a blame with those of the file, and their authors with those that
// the model knows.
func (m *blameModel) checkLines(b *session.Blame, lines []string) error {
	if len(b.Lines) != len(lines) {
		return fmt.Errorf("%d lines instead of %d", len(b.Lines), len(lines))
	}
	for i, l := range b.Lines {
		text := strings.TrimSuffix(l.Text, "\r")
		if got := authorOf(&b.Origins[l.Origin]); text != lines[i] || got != m.authors[text] {
			return fmt.Errorf("line %d, %q, is of %q, not %q (%+v)", i+1, text, got, m.authors[text], b.Origins[l.Origin])
		}
		if w := b.Origins[l.Origin].Work; w != nil && (w.Prompt != "prompt "+w.Step || !strings.HasPrefix(w.Agent, "agent ")) {
			return fmt.Errorf("line %q has work %+v", text, w)
		}
	}
	return nil
}

// at reads the file as it was at a checkpoint.
func (m *blameModel) at(spec, name string) ([]string, error) {
	_, file, err := m.repo.OpenFile(background, spec, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(text), m.newline), m.newline), nil
}

// checkAllDeleted checks that every line of any checkpoint that is gone was told.
func (m *blameModel) checkAllDeleted(told map[string]bool, lines []string) error {
	for c, err := range m.repo.Checkpoints(background) {
		if err != nil {
			return err
		}
		was, err := m.at(c.ID, m.file)
		if err != nil && !errors.Is(err, cairn.ErrNotFound) {
			return err
		}
		for _, text := range was {
			if !told[text] && !slices.Contains(lines, text) {
				return fmt.Errorf("deleted %q of %s is not told", text, c.ID)
			}
		}
	}
	return nil
}

// checkPast blames the file as it was at an older checkpoint.
func (m *blameModel) checkPast() error {
	spec := fmt.Sprint("@~", m.random.IntN(10))
	for e, err := range m.repo.List(background, spec, "") {
		if errors.Is(err, cairn.ErrNotFound) {
			return nil // there are fewer
		}
		if err != nil {
			return err
		}
		if e.Path == "other" {
			continue
		}
		lines, err := m.at(spec, e.Path)
		if err != nil {
			return err
		}
		b, err := m.Blame(background, e.Path, cairn.BlameOptions{At: spec})
		if err != nil {
			return err
		}
		if err := m.checkLines(b, lines); err != nil {
			return fmt.Errorf("at %s: %w", spec, err)
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
				newline: []string{"\n", "\n", "\r\n"}[seed%3], still: seed%2 == 0,
			}
			m.track()
			for range 60 {
				m.act()
				if m.random.IntN(6) > 0 {
					continue
				}
				err := m.check()
				if err == nil {
					err = m.checkPast()
				}
				if err != nil {
					t.Fatalf("%v\n%s", err, strings.Join(m.log, "\n"))
				}
			}
		})
	}
}
