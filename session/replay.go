package session

import (
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// replay builds a session's history from its checkpoints, oldest first. If the beginning was
// cleaned away, there are steps without a message; see cutMessage.
func replay(root string, entries []*entry, truncated bool) *history {
	h := &history{root: root, truncated: truncated}
	for _, e := range entries {
		h.tip = e.mark.id
		if len(e.rec.Events) == 0 {
			continue
		}
		now := e.rec.Now
		for i := range e.rec.Events {
			h.apply(&e.rec.Events[i], e, now.At)
		}
		h.digest = now
		h.last = moment{e.mark.id, e.mark.hash, now.At}
		h.mendOpen(entries[0])
	}
	h.First = h.firstPrompt()
	if truncated {
		h.Messages, h.Steps = h.counts(nil)
	}
	return h
}

func (h *history) apply(ev *event, e *entry, at int64) {
	switch ev.Kind {
	case kindMessage:
		h.messages = append(h.messages, &message{
			Message: Message{
				ID: ev.Message, Role: ev.Role, Prompt: ev.Prompt, Agent: ev.Meta[MetaAgent],
				Meta: ev.Meta, Parts: ev.Parts, Created: instant(at),
			},
			at: at, begun: e.mark,
		})
	case kindParts:
		if m := h.message(ev.Message); m != nil {
			m.Parts = append(slices.Clip(m.Parts), ev.Parts...)
		}
	case kindStep:
		h.applyStep(ev, e, at)
	case kindHint:
		if s := h.step(ev.Step); s != nil {
			s.hint(ev.Paths)
			s.before(ev, e)
		}
	case kindOwner:
		if s := h.step(ev.Step); s != nil {
			s.share(ev.Owner)
		}
	case kindEnd:
		if s := h.step(ev.Step); s != nil {
			s.end(ev, e, at)
		}
	case kindRevert, kindUnrevert:
		h.chain = append(h.chain, &boundary{*ev, &e.line, ev.Kind == kindUnrevert})
	case kindCommit:
		h.recordLeft(ev)
		h.chain = nil
		h.remove(ev)
	case kindDrop:
		h.drop(ev.Undone)
	case kindInGit:
		if m := h.message(ev.Message); m != nil {
			m.Commits = append(slices.Clip(m.Commits), ev.Commit)
		}
	case kindResume: // its Root counts when the line is read
	case kindTold:
		h.told(ev)
	case kindFork:
		h.toldAt, h.left = nil, nil
		h.cut(ev.Message)
		h.drop(ev.Undone)
		h.dropOpen()
		h.chain = nil
	}
}

func (h *history) applyStep(ev *event, e *entry, at int64) {
	m := h.message(ev.Message)
	if m == nil && h.truncated {
		m = h.cutMessage(ev.Message, e, at)
	}
	if m == nil {
		return
	}
	from := ev.state(e, at)
	s := &step{began: from.At, Step: Step{
		ID: ev.Step, Message: ev.Message, Before: CheckpointRef{from.ID, from.Hash}, Began: instant(from.At), Meta: ev.Meta,
		Patch: cairn.Patch{Hash: from.Hash, Files: []string{}}, Agent: ev.Meta[MetaAgent], Model: ev.Meta[MetaModel], Calls: calls(nil, ev.Meta),
	}}
	s.share(ev.Owner)
	s.hint(ev.Paths)
	s.before(ev, e)
	m.steps = append(m.steps, s)
}

// state returns the state of an event: that of its checkpoint, or an earlier one.
func (ev *event) state(e *entry, at int64) moment {
	if ev.State != nil {
		return *ev.State
	}
	return moment{e.mark.id, e.mark.hash, at}
}

func (s *step) hint(paths []string) {
	known := pathSet(s.Paths)
	for _, p := range paths {
		if !known[p] {
			known[p] = true
			s.Paths = append(s.Paths, p)
		}
	}
}

func pathSet(paths []string) map[string]bool {
	set := make(map[string]bool, len(paths))
	for _, p := range paths {
		set[p] = true
	}
	return set
}

// before records the known state of hinted paths before the step changes them.
func (s *step) before(ev *event, e *entry) {
	s.recorded(ev)
	if len(ev.Paths) == 0 {
		return
	}
	s.absent = append(s.absent, ev.Absent...)
	s.hints = append(s.hints, operation.Hint{Checkpoint: e.mark.id, Paths: ev.Paths})
}

// recorded adds the record of paths outside the root that an event names.
func (s *step) recorded(ev *event) {
	if ev.Outside != "" {
		s.outside = append(s.outside, ev.Outside)
	}
}

func (s *step) end(ev *event, e *entry, at int64) {
	s.recorded(ev)
	s.hint(ev.Paths)
	to := ev.state(e, at)
	s.After, s.Ended, s.ended = CheckpointRef{to.ID, to.Hash}, instant(to.At), to.At
	s.forced, s.Abandoned = ev.Forced, ev.Abandoned
	s.Parts, s.changed, s.first = ev.Parts, ev.Changed, ev.first()
	s.Calls = calls(ev.Parts, s.Meta)
	s.files = len(ev.Files) == ev.Changed
	if s.files {
		s.Patch.Files = ev.Files
	}
}

// remove removes the reverted part from the session, as OpenCode does when the user continues: the
// boundary's message and all later ones. With a part, the message stays up to that part.
func (h *history) remove(ev *event) {
	defer h.drop(ev.Undone)
	if ev.Start {
		h.keepPrompts(h.messages)
		h.messages = nil
		return
	}
	i := slices.IndexFunc(h.messages, func(m *message) bool { return m.ID == ev.Message })
	if i < 0 {
		return
	}
	h.keepPrompts(h.messages[i:])
	keep := i
	if ev.Part != "" {
		keep++
		h.messages[i].cut(ev.Part)
	}
	h.messages = h.messages[:keep:keep]
}

// keepPrompts keeps what a way back is called by after its messages have left the session.
func (h *history) keepPrompts(messages []*message) {
	if h.removed == nil {
		h.removed = make(map[string]string)
	}
	for _, m := range messages {
		h.removed[m.ID] = h.prompt(m)
	}
}

// drop removes steps, and messages that had no others.
func (h *history) drop(undone []stepRef) {
	gone := make(map[string]bool)
	for _, u := range undone {
		if u.Session == h.ID {
			gone[u.Step] = true
		}
	}
	if len(gone) == 0 {
		return
	}
	h.messages = slices.DeleteFunc(h.messages, func(m *message) bool {
		n := len(m.steps)
		m.steps = slices.DeleteFunc(m.steps, func(s *step) bool { return gone[s.ID] })
		return n > 0 && len(m.steps) == 0 && len(m.Parts) == 0
	})
}

// dropOpen removes steps that run elsewhere.
func (h *history) dropOpen() {
	for _, m := range h.messages {
		m.steps = slices.DeleteFunc(m.steps, func(s *step) bool { return s.ended == 0 })
	}
}

// cut removes a message and all later ones.
func (h *history) cut(id string) {
	if i := slices.IndexFunc(h.messages, func(m *message) bool { return m.ID == id }); i >= 0 {
		h.messages = h.messages[:i:i]
	}
}

// add applies an event and makes it pending.
func (h *history) add(at int64, ev event) {
	h.apply(&ev, &entry{rec: &record{}}, at)
	h.pending = append(h.pending, ev)
}

// next returns the digest with the pending events.
func (h *history) next(at int64) digest {
	d := h.digest
	d.Meta = maps.Clone(h.Meta)
	d.At = at
	d.Messages, d.Steps = h.counts(nil)
	d.Chain = len(h.chain) > 0
	d.Open, d.OpenMessage = "", ""
	d.Clock = h.clock
	d.Work = h.latest(nil)
	d.First = h.firstPrompt()
	if s := h.openStep(); s != nil {
		d.Open, d.OpenMessage = s.ID, s.Message
	}
	return d
}
