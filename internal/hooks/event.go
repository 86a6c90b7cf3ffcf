package hooks

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/internal/secrets"
	"github.com/seed-fb9cbc17/cairn/session"
)

// The agents of which something is special here. Package known lists all.
const (
	Claude   = known.Claude
	Codex    = known.Codex
	Gemini   = known.Gemini
	Qwen     = known.Qwen
	OpenCode = known.OpenCode
)

// speaks reports whether an agent has hooks of its own. Every other name means the neutral
// protocol.
func speaks(name string) bool {
	a, _ := known.Find(name)
	return a.Speaks
}

// Agent returns the proper name of an agent.
func Agent(name string) string {
	if a, found := known.Find(name); found {
		return a.Name
	}
	return name
}

// kind is the kind of an event, the same for all agents.
type kind int

const (
	noise        kind = iota // nothing that concerns files
	sessionBegin             // a session begins or is resumed
	news                     // asks for the report that goes along with the next prompt
	prompt                   // the user says something: a turn begins
	comeBack                 // the agent says something itself: the turn goes on
	before                   // a tool is about to run
	after                    // a tool, or all tools of a batch, have run
	did                      // a tool has run, and no event came before it
	stop                     // the turn is over
	agentStop                // a sub-agent has finished
	sessionEnd               // the last event
	newDir                   // the agent works in one more directory
	command                  // something to do at once
)

// event is one call of a hook.
type event struct {
	kind    kind
	name    string // the agent's own name of the event, for the log
	session string
	parent  string   // set for a sub-agent's event
	dir     string   // where the agent works, absolute
	further []string // other directories in which it works, as it names them
	title   string

	model    string // "" if the agent does not tell
	dialogue string // path of the agent's own record, which may name the model

	message string // of the turn; "" if the agent does not tell
	prompt  string
	at      string // the agent's time of the event, where nothing else tells two events apart

	call       string // "" if the agent gives calls no ids
	tool       string
	shell      string   // command that the tool runs
	recorded   string   // the command as it is recorded
	paths      []string // that an edit tool names
	reads      bool     // no tool of the event can change a file by itself
	background bool     // the tool leaves something running
	left       string   // Copilot: the name of that command
	back       string   // comeBack: the command that has ended
	all        bool     // after: every call has come back, told or not
	alone      bool     // before: nothing tells of a tool's end, so the step before ends now

	tasks   bool     // the end of a turn lists the commands that go on; background tells whether one does
	running []string // sub-agents at work when the turn ends

	do   *request // kind command
	said bool     // the command was typed as a prompt

	told  bool // a prompt: what went back before it was asked for, so it stays news for the next one
	final bool // a prompt: its tools may begin without an event, so an undo before it becomes final

	transcript string // path of the agent's own record of the session; "" if it tells nothing about calls
	record     string // likewise, where it may tell of directories

	waits time.Duration // how long the caller waits for the answer; 0 if it does not tell
}

// errPayload is a payload that cannot be understood.
var errPayload = errors.New("unusable payload")

// decode reads a payload of an agent.
func decode(agent string, data []byte) (*event, error) {
	var e *event
	var err error
	if speaks(agent) {
		e, err = decodePayload(agent, data)
	} else {
		e, err = decodeNeutral(data)
	}
	if err != nil || e.kind == noise {
		return e, err
	}
	switch {
	case e.session == "":
		return nil, fmt.Errorf("%w: no session", errPayload)
	case !filepath.IsAbs(e.dir):
		return nil, fmt.Errorf("%w: the working directory is no absolute path", errPayload)
	}
	e.session, e.parent, e.message, e.call = shortID(e.session), shortID(e.parent), shortID(e.message), shortID(e.call)
	return e, nil
}

// shortID shortens the ids of hosts to the length that sessions accept.
func shortID(id string) string {
	if len(id) <= session.MaxID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// turnID names the turn of an agent that gives its turns no ids.
func (e *event) turnID() string {
	switch {
	case e.message != "":
		return e.message
	case e.at != "":
		return "turn-" + e.at
	}
	return "turn-" + time.Now().UTC().Format(time.RFC3339Nano)
}

// reduceTexts keeps the prompt, a title and the command of an event out of all records, or the
// secrets in them. The command itself still tells which paths it names.
func (e *event) reduceTexts(no, noMask bool) {
	switch {
	case no:
		e.prompt, e.title, e.recorded = "", "", ""
	case noMask:
		e.recorded = shortCommand(e.shell)
	default:
		mask := secrets.MaskBeginning
		e.prompt, e.title, e.recorded = mask(e.prompt, session.MaxPrompt), mask(e.title, session.MaxPrompt), mask(e.shell, session.MaxCommand)
	}
}

// Commands reports whether a payload of an agent is a command, such as a typed cairn undo: a call that is not to
// be made twice. A payload that cannot be read is none.
func Commands(agent string, payload []byte) bool {
	e, err := decode(Agent(agent), payload)
	return err == nil && e.kind == command
}
