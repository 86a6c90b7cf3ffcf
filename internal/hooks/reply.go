package hooks

import (
	"bytes"
	"encoding/json"

	"github.com/seed-fb9cbc17/cairn"
)

// reply is what goes to stdout, nil for nothing.
func (h *hook) reply(err error) []byte {
	switch {
	case !speaks[h.agent]:
		return line(h.neutralReply(err))
	case h.event != nil && h.said:
		return line(h.refusal(err))
	case h.agent == Gemini:
		return []byte("{}\n") // it wants JSON from every hook
	}
	return nil
}

// refusal keeps a prompt that was a command from the model, and says what came of it.
// Gemini calls the decision by another name.
func (h *hook) refusal(err error) any {
	text := h.did.text
	if err != nil {
		if text != "" {
			text += "\n"
		}
		text += "cairn: " + h.do.verb + ": " + failureText(err)
	}
	decision := "block"
	if h.agent == Gemini {
		decision = "deny"
	}
	return struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}{decision, text}
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
	Result  *cairn.Result `json:"result,omitempty"`
}

func (h *hook) neutralReply(err error) neutralReply {
	if err != nil {
		return neutralReply{Error: failureText(err)}
	}
	r := neutralReply{OK: true, Session: h.session, Message: h.did.message, Text: h.did.text, Result: h.did.result}
	if step := h.did.step; step != nil {
		r.Step, r.Before, r.After, r.Hash = step.ID, step.Before.ID, step.After.ID, step.Before.Hash
		if step.After.Hash != "" {
			r.Hash = step.After.Hash
		}
	}
	return r
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
