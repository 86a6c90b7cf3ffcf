// Package conversation knows how the conversation of an agent goes back, beside the files that cairn
// brings back. Codex takes it back at the request of another program. All other agents leave that to
// the user, to whom Way names the command.
package conversation

import (
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Place names a prompt in the conversation of an agent.
type Place struct {
	Agent   string // as the metadata of sessions have it
	Session string // id that the agent itself gave it
	Message string // with which the turn began
}

// ways are the commands of agents. SESSION stands for the id.
var ways = map[string]string{
	known.Claude:   "in Claude Code /rewind takes it back, the conversation only; claude --resume SESSION opens it again",
	known.Gemini:   "in Gemini CLI /rewind takes it back, the conversation only; gemini --resume opens it again",
	known.Qwen:     "in Qwen Code Esc, pressed twice in the empty box, takes it back, the conversation only; qwen --resume SESSION opens it again",
	known.Codex:    "in Codex Esc, pressed twice, takes it back; codex resume SESSION opens it again",
	known.OpenCode: "in OpenCode /undo takes it back",
	known.Kilo:     "in Kilo CLI /undo takes it back",
	known.Pi:       "in pi /tree takes it back",
}

// Way says how a person takes the conversation back, "" for an agent that is not known.
func (p Place) Way() string {
	return strings.ReplaceAll(ways[p.Agent], "SESSION", wording.ShellWord(p.Session))
}

// Rest is the sentence about the half that an undo of the files has left, "" for an agent that is not
// known.
func (p Place) Rest() string {
	way := p.Way()
	if way == "" {
		return ""
	}
	return "only the files went back, the conversation still holds the turn: " + way
}

// Missing is the sentence about a half of which no way is known.
func (p Place) Missing() string {
	const left = "only the files went back, the conversation still holds the turn: "
	if a, found := known.Find(p.Agent); found {
		return left + "no command of " + a.Title + " is known that takes it back"
	}
	return left + "cairn does not know the agent of this session"
}

// OfParent is the sentence about the conversation after files of a sub-agent's session went back. parent
// is the id of the session that began it.
func OfParent(parent string) string {
	return "only the files went back: a sub-agent worked in this session, and the conversation with the user is in session " + wording.ShellWord(parent)
}

// Moves reports whether Move can take the conversation back.
func (p Place) Moves() bool { return p.Agent == known.Codex }
