package ticket

import (
	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Message is a message of a session, recorded together with the state of the root. A session that is
// new begins with it.
type Message struct {
	Session string            `json:"session"`
	Message string            `json:"message"`
	Role    string            `json:"role,omitempty"`
	Prompt  string            `json:"prompt,omitempty"`
	Meta    map[string]string `json:"meta,omitempty"`

	Begin map[string]string `json:"begin,omitempty"` // metadata of the session
}

// NewMessage returns the message in the form of a request. It has no parts.
func NewMessage(b session.SessionBegin, m session.MessageBegin) *Message {
	return &Message{Session: m.Session, Message: m.Message, Role: m.Role, Prompt: m.Prompt, Meta: m.Meta, Begin: b.Meta}
}

// Add returns the message and its session in the form of package session.
func (m *Message) Add() (session.SessionBegin, session.MessageBegin) {
	return session.SessionBegin{ID: m.Session, Meta: m.Begin},
		session.MessageBegin{Session: m.Session, Message: m.Message, Role: m.Role, Prompt: m.Prompt, Meta: m.Meta}
}

// End is the end of a step of a session.
type End struct {
	Session string         `json:"session"`
	Step    string         `json:"step"`
	Parts   []session.Part `json:"parts,omitempty"`
	Paths   cairn.Paths    `json:"paths,omitempty"`
}

// NewEnd returns the end of a step in the form of a request. Its agent is there.
func NewEnd(e session.StepEnd) *End {
	return &End{Session: e.Session, Step: e.Step, Parts: e.Parts, Paths: e.Paths}
}

// End returns the end in the form of package session.
func (e *End) End() session.StepEnd {
	return session.StepEnd{Session: e.Session, Step: e.Step, Parts: e.Parts, Paths: e.Paths}
}

// session is the id of the session that a request changes, "" for a track.
func (r *Request) session() string {
	switch {
	case r.Step != nil:
		return r.Step.Session
	case r.Message != nil:
		return r.Message.Session
	case r.End != nil:
		return r.End.Session
	}
	return ""
}

// One reports whether exactly one of the parts of a request is set.
func One(set ...bool) bool {
	n := 0
	for _, is := range set {
		if is {
			n++
		}
	}
	return n == 1
}
