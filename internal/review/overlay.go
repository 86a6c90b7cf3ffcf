package review

import (
	"fmt"
	"math"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// helpLines draws the help.
func (m *Model) helpLines(height int) []string {
	var lines []string
	for _, k := range helpKeys {
		key := k[0]
		for _, text := range wrap(k[1], max(m.width-24, 10), allLines) {
			lines = append(lines, fit("  "+m.look.paint(heading, fit(key, 22))+m.look.paint(plain, text), m.width))
			key = ""
		}
	}
	m.helpTop = max(0, min(m.helpTop, len(lines)-height))
	return filled(lines[m.helpTop:], m.width, height)
}

// allLines is no limit on the lines of a text.
const allLines = math.MaxInt

// planLines draws the plan: what goes, then what stays and why, then what is changed. All of it can be read before
// the answer, so a line that is too long goes on below.
func (m *Model) planLines(height int) []string {
	p := m.plan
	var lines []string
	add := func(r role, text string) {
		for i, line := range folded(text, m.width-2) {
			if i > 0 {
				line = "    " + line
			}
			lines = append(lines, m.look.paint(r, fit(" "+line, m.width)))
		}
	}
	add(heading, p.action.title())
	if t := p.action.Turn; t != nil {
		add(dim, short(visibleLine(t.Prompt), m.width-2))
	}
	add(plain, "")
	m.reasonLines(add, "Conflicts: these stay as they are", p.result.Conflicts)
	m.reasonLines(add, "Left alone", p.result.Kept)
	m.reasonLines(add, "Not taken back, because no checkpoint holds it", p.result.NotTakenBack)
	m.noteLines(add, p.result.Notes)
	if p.empty() {
		add(plain, "No file has to be changed.")
	} else {
		add(plain, wording.Count(len(p.result.Plan), "change")+":")
	}
	for _, c := range p.result.Plan {
		add(plain, fmt.Sprintf("  %-7s %s%s", c.Action, visible(string(c.Path)), sizeText(c)))
	}
	p.top = max(0, min(p.top, len(lines)-height))
	return filled(lines[p.top:], m.width, height)
}

func sizeText(c cairn.PlannedChange) string {
	if c.Action != "create" && c.Action != "modify" && c.Action != "delete" {
		return ""
	}
	return "  " + wording.Size(c.Bytes)
}

func (m *Model) noteLines(add func(role, string), notes []string) {
	for _, note := range notes {
		add(plain, visibleLine(note))
	}
	if len(notes) > 0 {
		add(plain, "")
	}
}

func (m *Model) reasonLines(add func(role, string), title string, list []cairn.PathReason) {
	if len(list) == 0 {
		return
	}
	add(bad, fmt.Sprintf("%s (%d):", title, len(list)))
	for _, r := range list {
		add(plain, fmt.Sprintf("  %s: %s", visible(string(r.Path)), visible(r.Reason)))
	}
	add(plain, "")
}
