package answers

import (
	"fmt"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// RemoteLines are the lines that show people what a remote holds: projects, their stores and the
// sessions of these, indented. Texts that came from the remote are printable in them.
func RemoteLines(list []cairn.RemoteProject) (lines []string) {
	for i := range list {
		lines = append(lines, projectLine(&list[i]))
		for _, s := range list[i].Stores {
			lines = append(lines, "  "+storeLine(&s))
			for _, x := range s.Sessions {
				lines = append(lines, "    "+remoteSessionLine(&x))
			}
		}
	}
	return lines
}

// ProjectName is what people call a project: its id, else its directory on some machine, else its key.
func ProjectName(p *cairn.RemoteProject) string {
	switch {
	case p.ID != "":
		return p.ID
	case p.Name != "":
		return pathtext.Place(string(p.Name))
	}
	return p.Key
}

// Owner names the user and the machine of a store, or the store where neither is known.
func Owner(s *cairn.RemoteStore) string {
	return (&history.Machine{Store: s.Store, User: s.User, Machine: s.Machine}).String()
}

func projectLine(p *cairn.RemoteProject) string {
	name := ProjectName(p)
	if p.ID == "" && p.Root != "" {
		name += " (repository " + wording.Printable(p.Root[:min(len(p.Root), 12)])
		if p.Within != "" {
			name += ", in " + pathtext.Place(string(p.Within))
		}
		name += ")"
	}
	if p.Here {
		name += ", this project"
	}
	return name
}

func storeLine(s *cairn.RemoteStore) string {
	who := Owner(s)
	if s.Root != "" {
		who += "  " + pathtext.Place(string(s.Root))
	}
	if s.Own {
		who += "  (this store)"
	}
	return who
}

func remoteSessionLine(s *cairn.RemoteSession) string {
	text := wording.Printable(s.ID)
	if !s.Updated.IsZero() {
		text += fmt.Sprintf("  %s  %s", s.Updated.Local().Format("2006-01-02 15:04"), wording.Count(s.Steps, "step"))
	}
	if s.Agent != "" {
		text += "  " + wording.Printable(s.Agent)
	}
	if s.Title != "" {
		text += "  " + wording.Printable(wording.FirstLine(s.Title, 72))
	}
	return text
}
