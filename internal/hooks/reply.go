package hooks

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/known"
)

// reply is the output of the hook, nil for none.
func (h *hook) reply(err error) []byte {
	switch {
	case !speaks(h.agent):
		return line(h.neutralReply(err))
	case h.event != nil && h.said:
		return line(h.refusal(err))
	case mute[h.agent]:
	case h.event != nil && h.parent == "" && h.kind == h.warnsAt() && (err != nil || h.did.text != ""):
		return line(systemMessage{h.warning(err)})
	case h.did.report != "":
		return line(h.promptReport())
	case (err == nil || h.event != nil && h.kind == stop) && len(h.notices()) > 0:
		return line(systemMessage{strings.Join(h.notices(), "\n")})
	case h.event != nil && h.kind == stop && h.parent == "" && isFull(err): // what was missed is not noted
		return line(systemMessage{cannotProtect(err)})
	}
	return []byte(quietAnswer[h.agent])
}

// refusal keeps a prompt that was a command from the model, and shows the outcome in the
// quietest form that each agent has. Claude Code puts a prompt that is blocked back into
// its input box, where the next command would be appended to it; one that stops leaves
// the box empty. Gemini calls the decision by another name; after a stop it would send
// the prompt with the next request, so it is denied.
func (h *hook) refusal(err error) any {
	text := h.answerText(err)
	switch h.agent {
	case Claude:
		return struct {
			Continue bool   `json:"continue"`
			Reason   string `json:"stopReason"`
		}{false, text}
	case Gemini:
		return decision{"deny", text}
	case known.Cursor:
		return cursorAnswer{false, text}
	case known.Cline:
		return clineAnswer{true, text}
	}
	return decision{"block", text}
}

type decision struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

// answerText is the answer of a command: its result, and the reasons for paths that it
// left.
func (h *hook) answerText(err error) string {
	switch {
	case err == nil:
		return h.did.text
	case h.did.text == "":
		return h.failureLine(err)
	}
	return h.did.text + "\n" + h.failureLine(err)
}

// systemMessage is what every agent that speaks for itself shows to the user.
type systemMessage struct {
	Text string `json:"systemMessage"`
}

// warnsAt is the event at which an agent shows a message to the user. Qwen shows one at the
// end of a turn only.
func (h *hook) warnsAt() kind {
	if h.agent == Qwen {
		return stop
	}
	return sessionBegin
}

func (h *hook) warning(err error) string {
	if err != nil {
		return cannotProtect(err)
	}
	return strings.Join(append([]string{h.did.text}, h.notices()...), "\n")
}

type neutralReply struct {
	OK      bool          `json:"ok"`
	Error   string        `json:"error,omitempty"`
	Session string        `json:"session,omitempty"`
	Message string        `json:"message,omitempty"`
	Step    string        `json:"step,omitempty"`
	Before  string        `json:"before,omitempty"`
	After   string        `json:"after,omitempty"`
	Hash    string        `json:"hash,omitempty"`
	Text    string        `json:"text,omitempty"`
	Report  string        `json:"report,omitempty"`
	Result  *cairn.Result `json:"result,omitempty"`
	Handled bool          `json:"handled,omitempty"`
}

func (h *hook) neutralReply(err error) neutralReply {
	if err != nil {
		return neutralReply{Error: h.neutralError(err), Handled: h.handled()}
	}
	if lines := h.notices(); len(lines) > 0 {
		h.did.text = strings.Join(lines, "\n")
	}
	r := neutralReply{OK: true, Handled: h.handled(), Session: h.session, Message: h.did.message, Text: h.did.text, Report: h.did.report, Result: h.did.result}
	if step := h.did.step; step != nil {
		r.Step, r.Before, r.After, r.Hash = step.ID, step.Before.ID, step.After.ID, step.Before.Hash
		if step.After.Hash != "" {
			r.Hash = step.After.Hash
		}
	}
	return r
}

// handled reports whether what was typed was a command.
func (h *hook) handled() bool { return h.event != nil && h.said }

// neutralError is the text of a failure: the whole answer for a command, because its
// user waits for it, and one line for any other event.
func (h *hook) neutralError(err error) string {
	switch {
	case h.handled():
		return h.answerText(err)
	case h.event != nil && h.kind == sessionBegin:
		return cannotProtect(err)
	case h.event != nil && h.kind == command && h.do != nil:
		return h.failureLine(err)
	}
	return failureText(err)
}

func line(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil
	}
	return b.Bytes()
}
