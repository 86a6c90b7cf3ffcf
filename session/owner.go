package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/process"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Owner decides how long an open step counts as running: as long as one of the processes lives. If
// that is not observable, because no process is named, or the processes run on another machine or
// in another PID namespace, the step counts as running for the time of Lease after the last event
// of its session. Time in which the machine sleeps does not count.
type Owner struct {
	Processes []Process     `json:"processes,omitempty"`
	Lease     time.Duration `json:"lease,omitempty"` // 0 = DefaultLease
}

// DefaultLease is the lease of an Owner that names none.
const DefaultLease = time.Hour

// Process identifies a process among all that have had its number.
type Process struct {
	PID   int    `json:"pid"`
	Start string `json:"start"`           // when it began, in a unit of the system
	Boot  string `json:"boot,omitempty"`  // of the machine
	Space string `json:"space,omitempty"` // the PID namespace in which PID counts
	Host  string `json:"host,omitempty"`
}

// ProcessOf identifies a running process. ok is false if the process does not exist or is not
// observable.
func ProcessOf(pid int) (p Process, ok bool) {
	id, ok := process.Of(pid)
	return Process(id), ok
}

// thisProcess is the owner of a step without a named owner.
func thisProcess() *Owner {
	if id, ok := process.Self(); ok {
		return &Owner{Processes: []Process{Process(id)}}
	}
	return &Owner{}
}

func (o *Owner) lease() time.Duration {
	if o == nil || o.Lease <= 0 {
		return DefaultLease
	}
	return o.Lease
}

// maxOwners is the largest number of processes that can share a step.
const maxOwners = 64

func (o *Owner) check() error {
	if o != nil && (len(o.Processes) > maxOwners || o.Lease < 0) {
		return fmt.Errorf("%w: an owner of %d processes (at most %d can be) and a lease of %v", ErrID, len(o.Processes), maxOwners, o.Lease)
	}
	return nil
}

// life is the known state of a step's owner.
type life int

const (
	running life = iota // or has ended in the usual way
	unseen              // it cannot be seen from here, and its lease has not run out
	lapsed              // its lease has run out
	gone                // for good
)

func (s *Sessions) lifeOf(h *history, st *step) life {
	seen := st.Owner != nil && len(st.Owner.Processes) > 0
	if seen {
		for _, p := range st.Owner.Processes {
			switch process.ID(p).State() {
			case process.Alive:
				return running
			case process.Unknown:
				seen = false
			}
		}
	}
	switch {
	case seen:
		return gone
	case s.idle(h) > st.Owner.lease():
		return lapsed
	}
	return unseen
}

// idle returns the time since the last event of a session in which the machine was awake. Across
// boots and machines only the calendar is available: a last event in the future counts as long ago
// as it is ahead, because a clock was set.
func (s *Sessions) idle(h *history) time.Duration {
	if d, ok := s.awake().Since(h.Clock); ok {
		return d
	}
	return time.Duration(s.clock().UnixNano() - h.At).Abs()
}

// bury makes a step whose owner is gone count as ended with the newest state of its line. All
// events since its beginning belong to it, because any other event of the session first records the
// end. Later changes do not belong to the step. No event is needed for this, so the result is the
// same for all readers.
func (s *Sessions) bury(h *history) {
	st := h.openStep()
	if st == nil {
		return
	}
	if st.life = s.lifeOf(h, st); s.lines.ForkedAt(h.At) != "" {
		s.leaveBehind(h, st)
	}
	if st.life < lapsed {
		return
	}
	st.After, st.Ended, st.ended = CheckpointRef{h.last.ID, h.last.Hash}, instant(h.last.At), h.last.At
	st.Abandoned, st.forced = true, true
	st.files = st.After.Hash == st.Before.Hash
	h.dead, h.Open = st, ""
}

// leaveBehind ends the copy of a step that a fork has: its owner works in the first directory, unless an event comes
// here after all. The copy ends with the state with which the fork began.
func (s *Sessions) leaveBehind(h *history, st *step) {
	st.life = lapsed
	if start, at := s.lines.ForkStart(); start != nil {
		h.last = moment{start.ID, start.Hash, at}
	}
}

// revive reopens a buried step: its owner has sent an event.
func (h *history) revive() {
	st := h.dead
	st.After, st.Ended, st.ended = CheckpointRef{}, time.Time{}, 0
	st.Abandoned, st.forced, st.files, st.life = false, false, false, running
	h.dead, h.Open = nil, st.ID
}

// endDead adds the end of a buried step to the pending events.
func (s *Sessions) endDead(ctx context.Context, h *history) error {
	if h.dead == nil {
		return nil
	}
	st := h.dead
	h.revive()
	return s.endGone(ctx, h, st)
}

// endGone adds the end of a step whose owner is gone.
func (s *Sessions) endGone(ctx context.Context, h *history, st *step) error {
	state := h.last
	end := event{Kind: kindEnd, Step: st.ID, State: &state, Forced: true, Abandoned: true}
	if state.Hash != st.Before.Hash {
		list, err := s.repo.Changes(ctx, st.Before.ID, state.ID)
		if err != nil {
			return fmt.Errorf("session: end of step %q: %w", st.ID, err)
		}
		end.tells(s, list)
	}
	s.add(h, end)
	return nil
}

// endAbandoned records the end of a step whose owner is gone.
func (s *Sessions) endAbandoned(ctx context.Context, u *operation.LineUpdate, h *history, st *step) (*Step, error) {
	if st == h.dead {
		h.revive()
	}
	if err := s.endGone(ctx, h, st); err != nil {
		return nil, err
	}
	if err := s.append(ctx, u, h, operation.LineAppend{Message: "the agent of step " + name(st.ID) + " is gone"}); err != nil {
		return nil, err
	}
	return s.stepNow(ctx, h.ID, st.ID)
}

// renewals is the largest number of events that renew a lease while it lasts.
const renewals = 8

// renew records an event of the session if the lease of a step depends on it.
func (s *Sessions) renew(ctx context.Context, u *operation.LineUpdate, h *history, st *step) error {
	if st.ended != 0 || s.lifeOf(h, st) < unseen || s.idle(h) < st.Owner.lease()/renewals {
		return nil
	}
	s.add(h, event{Kind: kindOwner, Step: st.ID})
	return s.append(ctx, u, h, operation.LineAppend{Message: "step " + name(st.ID) + " is at work"})
}

// resumed reports whether a step that was ended without its owner has already continued.
func (h *history) resumed(st *step) bool { return h.step(lateName(st.ID)) != nil }

// busyText says why a step is in the way, and what the user can do.
func (h *history) busyText(st *step) string {
	if st.life == unseen {
		return fmt.Sprintf(", and its agent cannot be seen from here (end it first; if the agent is gone: cairn session step end %s --gone)", word(h.ID))
	}
	return " (end it first)"
}

// tells lists what a step changed.
func (ev *event) tells(s *Sessions, list []cairn.Change) {
	ev.Changed = len(list)
	for i := range list {
		switch file := s.absolute(list[i].Path); {
		case len(list) <= maxFiles:
			ev.Files = append(ev.Files, file)
		case i < workPaths:
			ev.First = append(ev.First, file)
		default:
			return
		}
	}
}

// first returns the first entries of the list of changed files.
func (ev *event) first() []string {
	if len(ev.Files) > 0 {
		return ev.Files
	}
	return ev.First
}

// goOnForced records the changes of a step after it was ended without its owner, for instance
// because its session was taken back while a tool was at work. They are a step of their own, from
// the newest state of the line until now. As always when the session continues, reverted steps
// leave it.
func (s *Sessions) goOnForced(ctx context.Context, u *operation.LineUpdate, h *history, st *step, e *StepEnd) (*Step, error) {
	paths := append(slices.Clone(st.Paths), e.Paths...)
	from, err := s.withTime(ctx, h.last)
	if err != nil {
		return nil, err
	}
	list, err := u.Changes(ctx, from.ID, paths)
	if err != nil || len(list) == 0 {
		if err != nil {
			return nil, fmt.Errorf("session: end of step %q: %w", st.ID, err)
		}
		return s.stepOut(ctx, h, st)
	}
	of := h.message(st.Message)
	if err := s.commitRevert(ctx, h); err != nil {
		return nil, err
	}
	if h.message(st.Message) == nil {
		s.add(h, event{Kind: kindMessage, Message: st.Message, Role: of.Role, Prompt: of.Prompt, Meta: of.Meta})
	}
	id := lateName(st.ID)
	parts, err := s.uncaptured(ctx, u, &step{Step: Step{ID: id, Before: CheckpointRef{from.ID, from.Hash}}}, e.Parts)
	if err != nil {
		return nil, fmt.Errorf("session: end of step %q: %w", st.ID, err)
	}
	s.add(h, event{Kind: kindStep, Message: st.Message, Step: id, Meta: st.Meta, Paths: paths, Owner: st.Owner, State: &from})
	end := event{Kind: kindEnd, Step: id, Parts: parts}
	end.tells(s, list)
	s.add(h, end)
	a := operation.LineAppend{
		Message: fmt.Sprintf("step %s: %s", name(id), wording.Count(len(list), "file")),
		Author:  AuthorAgent, Capture: true, Paths: paths,
	}
	if err := s.append(ctx, u, h, a); err != nil {
		return nil, err
	}
	return s.stepNow(ctx, h.ID, id)
}

// withTime returns a state with the time at which it was reached: the state of a revert is recorded
// before the files move.
func (s *Sessions) withTime(ctx context.Context, at moment) (moment, error) {
	for op, err := range s.repo.Operations(ctx) {
		if err != nil || op.When.UnixNano() < at.At {
			return at, err
		}
		if op.After == at.ID {
			at.At = op.When.UnixNano()
			break
		}
	}
	return at, nil
}

// lateName is the id of the step that records changes after a step was ended without its owner.
func lateName(id string) string {
	return strings.ToValidUTF8(id[:min(len(id), MaxID-len(late))], "") + late
}

const late = "+late"

// seeOpen corrects a digest with the known state of the open step's owner.
func (s *Sessions) seeOpen(ctx context.Context, d *digest) error {
	h, isNew, err := s.loadOrNew(ctx, d.ID)
	if err == nil && !isNew {
		d.Open = h.Open
	}
	return err
}

// note says, about a step in a message, what the reader can do about it.
func (h *history) note(st *step) string {
	switch {
	case st.ended != 0 && st.Abandoned:
		return fmt.Sprintf("its agent ended in the middle of step %s, which counts until %s", name(st.ID), st.Ended.Format(time.DateTime))
	case st.ended == 0 && st.life == unseen:
		return fmt.Sprintf("its agent cannot be seen from here; if it is gone: cairn session step end %s --gone", word(h.ID))
	}
	return ""
}

// word quotes an id for a shell.
func word(id string) string {
	if id != "" && !strings.HasPrefix(id, "-") && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:") == "" {
		return id
	}
	return "'" + strings.ReplaceAll(id, "'", `'\''`) + "'"
}
