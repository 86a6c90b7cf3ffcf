package hooks

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/lastdone"
	"github.com/seed-fb9cbc17/cairn/internal/service"
	"github.com/seed-fb9cbc17/cairn/session"
)

// A step lasts from a tool's beginning to its end, or to the end of the last of several
// tools that run at the same time. A change while the model thinks is the user's, and an
// undo keeps it. A turn therefore has as many steps as it has rounds of tools. A question
// that no tool answers has none.

// hook is one call.
type hook struct {
	agent    string
	began    time.Time // the call
	sessions service.Sessions
	finder   func() (*lastdone.Finder, error) // see Project
	*event
	turn     *turn
	saveTurn func() error
	overlap  *Overlap // see Project
	dataDir  string   // of the hooks
	root     string   // of the project
	namedGit git.Named
	above    bool    // see Project
	broken   *Broken // likewise
	home     string  // see Options

	movedFrom string // directory in which the session began, which is gone
	homeMoves bool   // this event is the first that finds it gone, or there again

	ranBy  string // Run of Options
	rootOf func(dir string) (string, error)

	leavesOut func(context.Context, string) (bool, error) // see Project

	unlinked error // of directories that cannot be roots of the session

	tellsBroken bool // the reply tells of broken
	findGaps    func(context.Context) []string
	gaps        []string // that the reply tells of

	beside      beside // calls that ran when the command was typed
	interrupted bool   // they have results, and no hook told

	did answer
}

// answer is the outcome of a call.
type answer struct {
	message string
	step    *session.Step // the last one that began or ended
	ended   bool          // a step was completed
	text    string        // for people
	report  string        // for the model, with a prompt
	result  *cairn.Result
}

func (h *hook) apply(ctx context.Context) error {
	late := h.settleEnd(ctx) // the step stays open then, and what comes now is a part of it
	if ctx.Err() != nil {
		h.keepPrompt()
		return late
	}
	if err := h.settle(ctx); err != nil {
		h.keepPrompt()
		return errors.Join(late, err)
	}
	if err := h.linkRoots(ctx); err != nil {
		return errors.Join(late, err)
	}
	err := errors.Join(late, h.takeOver(ctx), h.applyKind(ctx))
	h.noteLeftOut(ctx)
	return err
}

// takeOver ends the step of the cairn run that the agent runs in. Each of two records of the same changes counts as
// other work for the other one, so that an undo would take nothing back.
func (h *hook) takeOver(ctx context.Context) error {
	if h.ranBy == "" || h.kind != sessionBegin && h.kind != prompt && h.kind != before {
		return nil
	}
	if run, err := h.sessions.Brief(ctx, h.ranBy); err != nil || run.Open == "" {
		return nil // it records another root, or has ended its step before
	}
	_, err := h.sessions.EndStep(ctx, session.StepEnd{Session: h.ranBy})
	return err
}

func (h *hook) applyKind(ctx context.Context) error {
	switch h.kind {
	case sessionBegin:
		return h.beginSession(ctx)
	case news:
		return h.takeNews(ctx)
	case prompt:
		return h.beginTurn(ctx)
	case comeBack:
		return h.goOn(ctx)
	case before:
		return errors.Join(h.meetTurn(ctx), h.beforeTool(ctx))
	case after:
		return h.afterTool(ctx)
	case did:
		return errors.Join(h.meetTurn(ctx), h.didTool(ctx))
	case stop:
		h.turn.Running, h.turn.Over = h.running, h.parent == "" || h.turn.Over
		if h.tasks {
			h.turn.Background = h.background
		} else if h.turn.Going || h.leftRunning() {
			h.turn.Background = true
		}
		h.noteLeft()
		err := errors.Join(h.finish(ctx, h.session, h.turn.of(h.event)), h.dropAgents(ctx))
		if err == nil && h.parent == "" && h.warnsAt() == stop {
			h.did.text = h.unprotected(ctx)
		}
		return err
	case agentStop:
		h.turn.Running = slices.DeleteFunc(h.turn.Running, func(id string) bool { return id == h.session })
		err := h.finish(ctx, h.session, h.turn.of(h.event))
		delete(h.turn.Agents, h.session)
		return err
	case sessionEnd:
		err := errors.Join(h.finishAll(ctx), h.recordLeft(ctx, true))
		*h.turn = turn{Missed: h.turn.Missed, Why: h.turn.Why, Noted: h.turn.Noted, Told: h.turn.Told}
		return err
	case command:
		return h.once(ctx)
	}
	return nil
}

// leftRunning reports whether a call outlives its turn: Codex calls no hook when a command
// becomes a background terminal. After Esc the calls have ended.
func (h *hook) leftRunning() bool {
	return h.agent == Codex && h.name == "Stop" && len(h.turn.Calls) > 0
}

// beginSession also ends an open step of an agent that was killed, because no event
// will end it. Adapters send this event at any time, so their open steps stay.
func (h *hook) beginSession(ctx context.Context) error {
	if err := h.begin(ctx, h.session, h.parent, h.title); err != nil || !speaks(h.agent) {
		return err
	}
	h.turn.Left = ""
	return h.finishAll(ctx)
}

func (h *hook) begin(ctx context.Context, id, parent, title string) error {
	_, err := h.sessions.Begin(ctx, session.SessionBegin{ID: id, Parent: parent, Title: title, Meta: h.sessionMeta()})
	return err
}

func (h *hook) sessionMeta() map[string]string {
	meta := map[string]string{session.MetaAgent: h.agent}
	h.nameModel(meta)
	return meta
}

// beginTurn ends a step that is still open: the turn before was interrupted, unless its tool goes on.
func (h *hook) beginTurn(ctx context.Context) error {
	if h.isFurther() {
		return h.addFurther(ctx)
	}
	if !h.overlaps() {
		if err := h.begin(ctx, h.session, h.parent, ""); err != nil {
			return err
		}
	}
	err := h.takeNews(ctx)
	if !h.goesOn() {
		err = errors.Join(h.endTurnBefore(ctx, h.session, h.turn.of(h.event)), err)
	}
	waits := h.parent == "" && !h.final && h.isReverted(ctx)
	if !waits {
		err = errors.Join(err, h.recordLeft(ctx, false))
	}
	if h.parent == "" && !waits {
		h.turn.Left = ""
	}
	h.hear()
	m := h.promptMessage()
	if h.parent == "" {
		h.turn.Asked = nil
	}
	if waits {
		h.turn.Asked = m
		return err
	}
	return errors.Join(err, h.recordPrompt(ctx, m))
}

// promptMessage is the message of the event's prompt.
func (h *hook) promptMessage() *session.MessageBegin {
	return &session.MessageBegin{
		Session: h.session, Message: h.did.message, Role: session.RoleUser, Prompt: h.event.prompt, Meta: map[string]string{session.MetaAgent: h.agent},
	}
}

// isReverted reports whether turns are taken back that a redo can bring back.
func (h *hook) isReverted(ctx context.Context) bool {
	s, err := h.sessions.Brief(ctx, h.session)
	return err == nil && s.Revert != nil
}

// recordAsked records a prompt that had to wait because turns are taken back. A message
// makes that final, and a prompt that needs no tool should not. So it does with a prompt that
// could not be recorded in the background.
func (h *hook) recordAsked(ctx context.Context) error {
	if h.turn.Asked == nil {
		return nil
	}
	err := h.addPrompt(ctx, h.turn.Asked)
	if err == nil {
		h.turn.Asked = nil
	}
	return err
}
