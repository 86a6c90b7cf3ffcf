package session

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Keys of Meta under which hosts say what lists of work show. A session and a step have
// an agent and a model, a part of type PartTool and a step a tool and a command.
const (
	MetaAgent   = "agent"
	MetaModel   = "model"
	MetaTool    = "tool"
	MetaCommand = "command"
)

// MaxCommand is how many bytes of a command hosts should keep.
const MaxCommand = 4 << 10

// Call is one call of a tool. Command is what a shell was given to run.
type Call struct {
	Tool    string `json:"tool"`
	Command string `json:"command,omitempty"`
}

// String returns the call on one line.
func (c Call) String() string {
	if c.Command == "" {
		return c.Tool
	}
	return c.Tool + ": " + c.Command
}

// Work tells in short who did what: a step, or a message that has no step yet. Prompt is
// the first line of the user's prompt. Calls and Paths are the first few, Changed counts
// all paths that the step changed. Paths count from the root.
type Work struct {
	Session string      `json:"sessionID"`
	Message string      `json:"messageID,omitempty"`
	Step    string      `json:"stepID,omitempty"`
	Agent   string      `json:"agent,omitempty"`
	Model   string      `json:"model,omitempty"`
	Prompt  string      `json:"prompt,omitempty"`
	Calls   []Call      `json:"calls,omitempty"`
	Paths   cairn.Paths `json:"paths,omitempty"`
	Changed int         `json:"changed"`
}

// How much of a step a Work tells.
const (
	workText  = 120 // characters of a prompt and of a command
	workCalls = 3
	workPaths = 3
)

// calls lists the calls of a step. One that has not ended, or that nothing ended, tells
// of the call with which it began.
func calls(parts []Part, meta map[string]string) []Call {
	var list []Call
	for _, p := range parts {
		if p.Type == PartTool && p.Meta[MetaTool] != "" {
			list = append(list, Call{p.Meta[MetaTool], p.Meta[MetaCommand]})
		}
	}
	if len(list) == 0 && meta[MetaTool] != "" {
		list = append(list, Call{meta[MetaTool], meta[MetaCommand]})
	}
	return list
}

// work tells what a step of a message did; without a step it tells of the message.
func (h *history) work(m *message, st *step) *Work {
	w := &Work{
		Session: h.ID, Message: m.ID, Agent: cmp.Or(m.Meta[MetaAgent], h.Meta[MetaAgent]),
		Prompt: wording.FirstLine(h.prompt(m), workText),
	}
	if known := h.Work; w.Prompt == "" && known != nil && known.Message == m.ID {
		w.Prompt = known.Prompt // the message has lost its beginning
	}
	if st != nil {
		w.Step, w.Agent, w.Changed = st.ID, cmp.Or(st.Meta[MetaAgent], w.Agent), st.changed
		w.Model = cmp.Or(st.Meta[MetaModel], h.Meta[MetaModel])
		w.tell(st.Calls, st.first, h.root)
	}
	return w
}

// undescribed: an earlier release wrote the digest, which knew no Work.
func (d *digest) undescribed() bool { return d.Work == nil && d.Messages > 0 }

// prompt is what the user said that a message is, or answers.
func (h *history) prompt(m *message) string {
	at := slices.Index(h.messages, m)
	for ; at > 0 && h.messages[at].Prompt == "" && h.messages[at].Role != RoleUser; at-- {
	}
	return h.messages[max(at, 0)].Prompt
}

// Work tells in short what a step did, given the root of its session. Paths in other roots are absolute.
func (s *Step) Work(root string) *Work {
	w := &Work{Session: s.Session, Message: s.Message, Step: s.ID, Agent: s.Agent, Model: s.Model}
	files := s.Files()
	w.Changed = len(files)
	w.tell(s.Calls, files, root)
	return w
}

// tell fills in the first calls and the first of some absolute paths.
func (w *Work) tell(calls []Call, files []string, root string) {
	for _, c := range calls[:min(len(calls), workCalls)] {
		w.Calls = append(w.Calls, Call{wording.FirstLine(c.Tool, workText), wording.FirstLine(c.Command, workText)})
	}
	for _, file := range files[:min(len(files), workPaths)] {
		w.Paths = append(w.Paths, strings.TrimPrefix(file, filepath.ToSlash(root)+"/"))
	}
}

// latest is the newest work that is visible before a boundary, nil for none.
func (h *history) latest(b *boundary) *Work {
	hidden, messages := make(map[string]bool), h.messages
	if b != nil {
		for _, u := range b.Undone {
			hidden[u.Step] = hidden[u.Step] || u.Session == h.ID
		}
		messages = messages[:h.visible(b)]
	}
	for _, m := range slices.Backward(messages) {
		for _, st := range slices.Backward(m.steps) {
			if !hidden[st.ID] {
				return h.work(m, st)
			}
		}
		if m.Role == RoleUser {
			return h.work(m, nil)
		}
	}
	return nil
}

// visible counts the messages before a boundary, one that it cuts in two included.
func (h *history) visible(b *boundary) int {
	n := slices.IndexFunc(h.messages, func(m *message) bool { return m.ID == b.Message })
	switch {
	case b.Start:
		return 0
	case n < 0:
		return len(h.messages)
	case b.Part != "":
		return n + 1
	}
	return n
}

// WorkOf returns whose work the changes of a checkpoint are, nil where it belongs to no
// session. What an earlier release recorded may lack calls and paths. The cache keeps the
// sessions that had to be read; the same map makes further calls cheap.
func (s *Sessions) WorkOf(ctx context.Context, checkpoint string, known WorkCache) (*Work, error) {
	e, err := s.lines.Event(checkpoint)
	if errors.Is(err, cairn.ErrLater) {
		return nil, nil
	}
	if err != nil || !e.OnLine {
		return nil, err
	}
	rec, err := s.decode(e)
	if Unreadable(err) {
		return nil, nil // others can be told of
	}
	if err != nil || rec.Now.ID == "" {
		return nil, err
	}
	w := &Work{Session: rec.Now.ID, Agent: rec.Now.Meta[MetaAgent]}
	ev := rec.subject()
	if ev == nil {
		return w, nil
	}
	w.Message, w.Step = ev.Message, ev.Step
	if now := rec.Now.Work; now != nil && now.Step == ev.Step && (ev.Message == "" || now.Message == ev.Message) {
		return now, nil
	}
	return s.workRead(ctx, w, ev, known)
}

// WorkCache holds sessions that WorkOf has read.
type WorkCache map[string]*history

// workRead fills in what the session says of an event whose record does not say it.
func (s *Sessions) workRead(ctx context.Context, w *Work, ev *event, known WorkCache) (*Work, error) {
	h := known[w.Session]
	if h == nil {
		var err error
		if h, err = s.load(ctx, w.Session); errors.Is(err, ErrNotFound) || Unreadable(err) {
			h, err = &history{root: s.repo.Root()}, nil // deleted, and forks share its line; or it cannot be read
		}
		if err != nil {
			return nil, err
		}
		known[w.Session] = h
	}
	for _, m := range h.messages {
		i := slices.IndexFunc(m.steps, func(st *step) bool { return st.ID == ev.Step })
		switch {
		case i >= 0:
			return h.work(m, m.steps[i]), nil
		case ev.Step == "" && m.ID == ev.Message:
			return h.work(m, nil), nil
		}
	}
	if ev.Step == "" {
		w.Prompt = wording.FirstLine(h.removed[ev.Message], workText)
	}
	if ev.Kind == kindEnd { // it has left the session since
		w.Changed = ev.Changed
		w.tell(calls(ev.Parts, nil), ev.first(), s.repo.Root())
	}
	return w, nil
}

// subject is the event whose work the changes of a checkpoint are: a step that ended,
// before one that only begins there.
func (r *record) subject() *event {
	var found *event
	for i := range r.Events {
		ev := &r.Events[i]
		switch ev.Kind {
		case kindEnd:
			return ev
		case kindMessage, kindStep, kindHint, kindRevert:
			found = ev
		}
	}
	return found
}

// Prompt returns the whole prompt that a message of a session is, or answers. It returns "" if the
// session has no such message any more.
func (s *Sessions) Prompt(ctx context.Context, session, message string) (string, error) {
	h, err := s.load(ctx, session)
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if m := h.message(message); m != nil {
		return h.prompt(m), nil
	}
	return "", nil
}
