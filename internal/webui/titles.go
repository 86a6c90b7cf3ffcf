package webui

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const (
	titleWidth   = 100 // characters of a title
	commandWidth = 80  // characters of a command
	shownCalls   = 3   // calls of one step on a list
)

// modelKey is the key of a session's Meta under which hosts name the model.
const modelKey = "model"

// titleOf names a session: its title, else the first line of its newest prompt. A session
// without either has a name that says so; its id is no name for people.
func titleOf(s *session.Session) string {
	if title := wording.FirstLine(s.Title, titleWidth); title != "" {
		return title
	}
	if s.Latest != nil && s.Latest.Prompt != "" {
		return s.Latest.Prompt
	}
	return "Session without a prompt"
}

// titleOfAll is titleOf for a session whose messages are known: without a title the first prompt
// names it.
func titleOfAll(s *session.Session, messages []session.Message) string {
	if s.Title == "" {
		for i := range messages {
			if first := wording.FirstLine(messages[i].Prompt, titleWidth); first != "" {
				return first
			}
		}
	}
	return titleOf(s)
}

// modelOf is the model of a session, "" where the host does not name it.
func modelOf(s *session.Session) string { return cmp.Or(s.Model, s.Meta[modelKey]) }

// agentOf is the agent of a message, or of its first step with one.
func agentOf(m *session.Message) string {
	agent := m.Agent
	for i := range m.Steps {
		agent = cmp.Or(agent, m.Steps[i].Agent)
	}
	return agent
}

// callView is one call of a tool on one line.
type callView struct{ Tool, Command string }

// callsOf lists the first calls of a step, and how many more there are.
func callsOf(s *session.Step) (list []callView, rest int) {
	for i := range s.Calls[:min(len(s.Calls), shownCalls)] {
		c := &s.Calls[i]
		list = append(list, callView{wording.FirstLine(c.Tool, commandWidth), wording.FirstLine(c.Command, commandWidth)})
	}
	return list, len(s.Calls) - len(list)
}

// stepMatches reports whether the tools, the commands or the files of a step contain a text. The text
// is in lower case. Files count from the root.
func stepMatches(s *session.Step, root, text string) bool {
	prefix := strings.TrimSuffix(filepath.ToSlash(root), "/") + "/"
	for i := range s.Calls {
		if strings.Contains(strings.ToLower(s.Calls[i].String()), text) {
			return true
		}
	}
	for _, file := range s.Patch.Files {
		if strings.Contains(strings.ToLower(strings.TrimPrefix(file, prefix)), text) {
			return true
		}
	}
	return false
}
