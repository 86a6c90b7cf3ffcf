package review

import (
	"fmt"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// helpLines draws the help.
func (m *Model) helpLines(height int) []string {
	m.helpTop = max(0, min(m.helpTop, len(helpKeys)-height))
	var lines []string
	for _, k := range helpKeys[m.helpTop:] {
		line := "  " + m.look.paint(heading, fit(k[0], 22)) + m.look.paint(plain, k[1])
		lines = append(lines, fit(line, m.width))
	}
	return filled(lines, m.width, height)
}

// planLines draws the plan: what goes, then what stays and why, then what is changed.
func (m *Model) planLines(height int) []string {
	p := m.plan
	var lines []string
	add := func(r role, text string) {
		lines = append(lines, m.look.paint(r, fit(" "+short(text, m.width-2), m.width)))
	}
	add(heading, p.action.title())
	if t := p.action.Turn; t != nil {
		add(dim, visibleLine(t.Prompt))
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
