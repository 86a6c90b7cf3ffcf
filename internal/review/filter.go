package review

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// filter selects turns. All its words have to fit.
type filter struct {
	text          string
	sessions      []string // each has to be part of the id or the title
	agents, paths []string
	anything      []string // in the prompt, the title or the agent
}

// newFilter reads words such as session:0c5e agent:claude path:src/ login.
func newFilter(text string) filter {
	f := filter{text: strings.TrimSpace(text)}
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		name, value, found := strings.Cut(word, ":")
		switch {
		case found && name == "session":
			f.sessions = append(f.sessions, value)
		case found && name == "agent":
			f.agents = append(f.agents, value)
		case found && name == "path":
			f.paths = append(f.paths, value)
		default:
			f.anything = append(f.anything, word)
		}
	}
	return f
}

// lets reports whether the filter lets a turn through.
func (f *filter) lets(t *Turn) bool {
	return all(f.sessions, t.Session.ID, t.Session.Title) && all(f.agents, t.Agent, t.Session.Agent) &&
		all(f.paths, t.Paths...) && all(f.anything, t.Prompt, t.Session.Title, t.Agent)
}

// all reports whether each word is part of one of the texts.
func all(words []string, texts ...string) bool {
	for _, w := range words {
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), w) }) {
			return false
		}
	}
	return true
}

// input is a line that is being typed: a search or a filter.
type input struct {
	prompt string
	text   string
	done   func(text string) tea.Cmd
}

func (m *Model) ask(prompt, text string, done func(string) tea.Cmd) {
	m.input = &input{prompt, text, done}
	m.message = ""
}

func (m *Model) paste(text string) {
	if m.input != nil {
		m.input.add(text)
	}
}

// add appends the printable characters.
func (in *input) add(text string) {
	for _, r := range strings.ToValidUTF8(text, "") {
		if unicode.IsPrint(r) {
			in.text += string(r)
		}
	}
}

// inputKey takes a key while a line is being typed.
func (m *Model) inputKey(k tea.KeyPressMsg) tea.Cmd {
	in := m.input
	switch k.String() {
	case "esc", "ctrl+c":
		m.input = nil
	case "enter":
		m.input = nil
		return in.done(in.text)
	case "backspace", "ctrl+h":
		_, size := utf8.DecodeLastRuneInString(in.text)
		in.text = in.text[:len(in.text)-size]
	case "ctrl+u":
		in.text = ""
	default:
		in.add(k.Text)
	}
	return nil
}

func (m *Model) setFilter(text string) tea.Cmd {
	m.filter = newFilter(text)
	m.list = scroll{}
	m.layout()
	if len(m.rows) == 0 {
		m.say("no turn fits the filter; f changes it")
	}
	if m.turn != nil && m.filter.lets(m.turn) {
		return nil
	}
	return m.selectRow(0)
}

func (m *Model) setSearch(text string) tea.Cmd {
	m.search = strings.ToLower(text)
	return m.find(1)
}

// find goes to the next line of the pane, in a direction, that has the text of the search.
func (m *Model) find(by int) tea.Cmd {
	if m.search == "" {
		return nil
	}
	var n, at int
	var text func(i int) string
	switch m.focus {
	case turnsPane:
		n, at = len(m.rows), m.list.at
		text = func(i int) string { return m.rows[i].text() }
	case filesPane:
		n, at = len(m.files), m.file.at
		text = func(i int) string { return m.files[i].Change.Path }
	case hunksPane:
		if m.view != nil {
			n, at = len(m.view.lines), m.hunk.at
			text = func(i int) string { return m.view.lines[i].text }
		}
	}
	for i := range n {
		next := ((at+by*(i+1))%n + n) % n
		if strings.Contains(strings.ToLower(text(next)), m.search) {
			return m.jump(next)
		}
	}
	m.say("not found: " + visible(m.search))
	return nil
}

// text is what a search finds a turn by.
func (r row) text() string {
	if r.turn == nil {
		return ""
	}
	return strings.Join([]string{r.turn.Prompt, r.session.Title, r.turn.Agent}, "\n")
}

// jump selects a line of the pane.
func (m *Model) jump(at int) tea.Cmd {
	switch m.focus {
	case turnsPane:
		return m.selectRow(at)
	case filesPane:
		return m.selectFile(at)
	}
	m.hunk.at = at
	return nil
}
