package session

import (
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/process"
)

// history is a session in memory, built from its events.
type history struct {
	digest
	root      string
	tip       string // checkpoint
	last      moment // the newest event
	dead      *step  // counts as ended, but no event says so; see bury
	messages  []*message
	chain     []*boundary // reverts and unreverts since the session last went on, oldest first
	truncated bool
	pending   []event         // applied, to be appended
	clock     process.Instant // at which they are
	leaving   []stepRef       // steps that leave their sessions with the next append

	from *Origin // of a fetched session, nil for one of this store

	toldAt *boundary   // the revert that the host knows of, nil for none
	left   []MovedTurn // of which it does not know, and which have left the session since

	removed map[string]string // prompts of messages that have left the session, by message
}

type message struct {
	Message
	at    int64
	begun mark
	steps []*step
}

// mark is a checkpoint of the line.
type mark struct{ id, hash string }

type step struct {
	Step
	began, ended int64 // ended is 0 while the step is open
	changed      int
	first        []string // of the changed files
	files        bool     // Patch.Files is complete
	forced       bool     // its owner did not say the end
	life         life     // of the owner, while no event says that the step has ended
	absent       []string
	hints        []operation.Hint

	elsewhere int // paths that it changed in other roots, where these were looked at

	outside []string // ids of the records of paths outside the root
}

// boundary is a revert, or an unrevert, which ends the reverts before it.
type boundary struct {
	event
	line     *operation.LineEvent // without its commit
	unrevert bool
}

// entry is the part of a line's checkpoint that is kept in memory.
type entry struct {
	line operation.LineEvent
	mark mark
	rec  *record
}

func (h *history) message(id string) *message {
	for _, m := range slices.Backward(h.messages) {
		if m.ID == id {
			return m
		}
	}
	return nil
}

func (h *history) step(id string) *step {
	for _, m := range slices.Backward(h.messages) {
		for _, s := range slices.Backward(m.steps) {
			if s.ID == id {
				return s
			}
		}
	}
	return nil
}

func (h *history) openStep() *step {
	for _, m := range slices.Backward(h.messages) {
		for _, s := range slices.Backward(m.steps) {
			if s.ended == 0 {
				return s
			}
		}
	}
	return nil
}

// cut removes a part and all parts after it.
func (m *message) cut(part string) {
	if i := indexPart(m.Parts, part); i >= 0 {
		m.Parts, m.steps = m.Parts[:i:i], nil
		return
	}
	for n, s := range m.steps {
		if i := indexPart(s.Parts, part); i >= 0 {
			s.Parts = s.Parts[:i:i]
			m.steps = m.steps[: n+1 : n+1]
			return
		}
	}
}

func indexPart(parts []Part, id string) int {
	return slices.IndexFunc(parts, func(p Part) bool { return p.ID == id })
}

// active returns the chain of reverts in effect, oldest first. undone holds the checkpoints after
// operations that were undone.
func (h *history) active(undone map[string]bool) []*boundary {
	var chain []*boundary
	for _, b := range h.chain {
		switch {
		case undone[b.line.ID]:
		case b.unrevert:
			chain = nil
		default:
			chain = append(chain, b)
		}
	}
	return chain
}

// counts counts the messages and steps that are visible before a boundary, nil for none.
func (h *history) counts(b *boundary) (messages, steps int) {
	hidden := make(map[string]bool)
	if b != nil {
		if b.Start {
			return 0, 0
		}
		for _, u := range b.Undone {
			if u.Session == h.ID {
				hidden[u.Step] = true
			}
		}
	}
	for _, m := range h.messages {
		if b != nil && m.ID == b.Message && b.Part == "" {
			break
		}
		messages++
		for _, s := range m.steps {
			if !hidden[s.ID] {
				steps++
			}
		}
		if b != nil && m.ID == b.Message {
			break
		}
	}
	return messages, steps
}
