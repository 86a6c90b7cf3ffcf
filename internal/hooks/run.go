package hooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/conversation"
	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// answers replies to the commands that need no project.
func (h *hook) answers() bool {
	switch {
	case ownUndo[h.agent] != "" && h.said && (h.do.verb == "undo" || h.do.verb == "redo") && !h.do.dryRun:
		h.did.text = fmt.Sprintf(seeOwnUndo, ownUndo[h.agent]) + "cairn session redo " + wording.ShellWord(h.session)
	case h.do.verb == "help":
		h.did.text = helpText
	case h.do.verb == "refuse":
		h.did.text = "cairn: " + h.do.answer + "; nothing was done. Here there are: " + strings.Join(promptVerbs, ", ")
	default:
		return false
	}
	return true
}

// command carries out a command of the user or of an adapter.
func (h *hook) command(ctx context.Context) error {
	if h.do.verb == "undo" || h.do.verb == "redo" {
		if refused, err := h.refuseBeside(ctx); refused || err != nil {
			return err
		}
	}
	if recordsLeft[h.do.verb] {
		if err := h.recordLeft(ctx, true); err != nil {
			return err
		}
	}
	if h.do.git {
		return h.gitBack(ctx)
	}
	if h.do.verb == "undo" || h.do.verb == "redo" {
		if done, err := h.operationBack(ctx); done || err != nil {
			return err
		}
	}
	switch do := h.do; do.verb {
	case "undo":
		return h.takeBack(ctx, h.sessions.UndoTurn, "took back", nothingToUndo)
	case "redo":
		return h.takeBack(ctx, h.sessions.RedoTurn, "brought back", nothingToRedo)
	case "log":
		return h.log(ctx)
	case "diff":
		return h.diff(ctx)
	case "status":
		return h.status(ctx)
	case "revert":
		return h.move(ctx, func(opt session.MoveOptions) (*session.Session, *cairn.Result, error) {
			return h.sessions.Revert(ctx, h.session, session.Target{Message: do.message, Part: do.part, Start: do.start}, opt)
		})
	case "unrevert":
		return h.move(ctx, func(opt session.MoveOptions) (*session.Session, *cairn.Result, error) {
			return h.sessions.Unrevert(ctx, h.session, opt)
		})
	case "fork":
		_, err := h.sessions.Fork(ctx, h.session, do.message, do.newSession)
		return err
	}
	return nil
}

// ownUndo are the agents whose own commands take the messages back and then the files. A
// typed line would be a prompt, and a prompt makes such an undo final.
var ownUndo = map[string]string{OpenCode: "OpenCode", known.Kilo: "Kilo CLI"}

const seeOwnUndo = "cairn: nothing was done: in %s /undo and /redo take the files along, one turn each. What was taken back before this prompt comes back in a shell: "

const (
	nothingToUndo = "nothing to take back in this session"
	nothingToRedo = "nothing to bring back in this session; what was taken back before the last turn that changed files comes back in a shell: cairn undo --operation"
)

// move reverts or unreverts for an adapter. An adapter knows its agent's steps, so none of them
// is running any more.
func (h *hook) move(ctx context.Context, f func(session.MoveOptions) (*session.Session, *cairn.Result, error)) error {
	before := h.reverted(ctx)
	_, res, err := f(session.MoveOptions{DryRun: h.do.dryRun, EndOpen: true, Outside: h.do.outside})
	h.forgetSteps()
	h.did.result = inAll(res)
	if err != nil || h.do.dryRun {
		return err
	}
	if h.do.verb == "revert" {
		h.did.text = strings.Join(h.alsoTold(ctx, before), "\n")
	}
	_, err = h.sessions.TakeNews(ctx, h.session) // the conversation has moved, too: it is no news
	return err
}

// forgetSteps forgets what is under way after a way back. Steps whose tools go on are late.
func (h *hook) forgetSteps() {
	if h.do.dryRun {
		return
	}
	t := h.turn
	if now := t.lateSteps(h.session); len(now) > 0 {
		t.Late = now
	}
	t.Agents, t.Refused, t.Asked, t.Pending, t.Ending, t.Typed, t.work = nil, "", nil, "", nil, nil, work{}
}

// maxSkipped bounds the turns without changes that one undo passes over.
const maxSkipped = 10000

type taker = func(ctx context.Context, id string, opt session.MoveOptions) (*session.Session, *cairn.Result, error)

// takeBack undoes or redoes turns. A turn that changed nothing is passed over: the user who types
// "cairn undo" expects a visible change. A dry run cannot look beyond it.
func (h *hook) takeBack(ctx context.Context, take taker, done, nothing string) error {
	if h.do.dryRun && h.do.verb == "undo" {
		return h.preview(ctx)
	}
	sum := &cairn.Result{DryRun: h.do.dryRun}
	history, err := h.history(ctx)
	if err != nil {
		return err
	}
	before, boundary := h.revertedIn(history), boundaryOf(history)
	n, passed, stays := 0, 0, false // passed: with changes, and nothing to do for them
	var at *session.Boundary
	for range maxSkipped + h.do.count {
		if n == h.do.count {
			break
		}
		s, res, err := take(ctx, h.session, session.MoveOptions{DryRun: h.do.dryRun, EndOpen: true, Outside: h.do.outside})
		h.forgetSteps()
		if errors.Is(err, cairn.ErrNotFound) {
			break
		}
		res = inAll(res)
		if err != nil && n == 0 {
			return err // it is not known then whether there is a turn to take back
		}
		if err != nil {
			h.tell(ctx, sum, done, nothing, n)
			return err
		}
		if h.do.verb == "undo" {
			stays = held(s, res, before, at)
		}
		at = s.Revert
		changed, now := changedBetween(history, boundary, at)
		changed = changed || res.Moves()     // in a root of which this history has no step
		empty := !changed && now != boundary // its result names what stays of turns before
		unmoved := now == boundary && !res.Moves()
		stays = stays || h.do.verb == "redo" && unmoved && !res.Complete()
		boundary = now
		if !idle(res) && (changed || n == 0 && (stays || unmoved || h.do.dryRun)) {
			n++
		} else if changed && !unmoved {
			passed++
		}
		add(sum, res)
		if h.do.dryRun || stays || len(res.Conflicts) > 0 && res.Operation == "" && !empty {
			break // it would be the same turn, or the same conflicts, again
		}
	}
	if n > 0 {
		n += passed // they are named below
	}
	h.tell(ctx, sum, done, nothing, n)
	if stays {
		h.did.text += h.insist(sum)
	}
	if len(sum.Restored)+len(sum.Deleted)+sum.Outside.Changes() > 0 && !h.do.dryRun {
		h.did.text = strings.Join(append([]string{h.did.text}, h.named(ctx, before)...), "\n")
	}
	if h.do.verb == "undo" {
		h.did.text = strings.Join(append([]string{strings.TrimRight(h.did.text, "\n")}, h.alsoTold(ctx, before)...), "\n")
	}
	return nil
}

// insist is the line about a turn that is neither taken back nor brought back, because all of it is in conflict or
// kept, or cannot be changed.
func (h *hook) insist(res *cairn.Result) string {
	line := "\nthe turn is not " + doneWords(h.do.verb) + "; "
	if !res.Overwritable() {
		return line + "once these paths can be changed, the same command tries it again"
	}
	return line + fmt.Sprintf("in a shell this saves and drops the later changes: cairn %s --session %s --on-conflict overwrite",
		h.do.verb, wording.ShellWord(h.session))
}

// doneWords says of a turn what undo or redo does with it.
func doneWords(verb string) string {
	if verb == "redo" {
		return "brought back"
	}
	return "taken back"
}

// held reports whether an undo has taken no turn back: the boundary is where it was.
func held(s *session.Session, res *cairn.Result, before map[string]bool, at *session.Boundary) bool {
	return !res.Moves() && (s.Revert == nil || before[s.Revert.Message] || at != nil && at.Message == s.Revert.Message)
}

// alsoTold are the lines about an undo besides its files: background commands, the
// conversation and the position of git. before are the messages that were taken back earlier.
func (h *hook) alsoTold(ctx context.Context, before map[string]bool) (lines []string) {
	for _, line := range []string{h.takenBackBetween(ctx, before), h.otherHalf(), h.gitStays(ctx, before)} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// otherHalf is the line about the conversation after an undo that moved files alone.
func (h *hook) otherHalf() string {
	if res := h.did.result; h.do.verb != "undo" || res == nil || len(res.Restored)+len(res.Deleted) == 0 {
		return ""
	}
	return conversation.Place{Agent: h.agent, Session: h.session}.Rest()
}

// preview lists what undo would take back, without doing it: the turns that changed
// files, as many as were asked for and there are.
func (h *hook) preview(ctx context.Context) error {
	history, err := h.history(ctx)
	if err != nil {
		return err
	}
	n, first := 0, len(history)
	for i := len(history) - 1; i >= 0 && n < h.do.count; i-- {
		if m := &history[i]; !m.Reverted && changedFiles(m) > 0 {
			n, first = n+1, i
		}
	}
	sum := &cairn.Result{DryRun: true}
	if n > 0 {
		if _, sum, err = h.sessions.Revert(ctx, h.session, session.Target{Message: history[first].ID}, session.MoveOptions{DryRun: true, EndOpen: true, Outside: h.do.outside}); err != nil {
			return err
		}
		sum = inAll(sum)
	}
	h.tell(ctx, sum, "took back", nothingToUndo, n)
	inEffect := func(m *session.Message) bool { return !m.Reverted }
	h.did.text = strings.Join(append([]string{h.did.text}, namedTurns(history[first:], "would be taken back", inEffect)...), "\n")
	if taken := betweenText(history[first:], "would be taken back", inEffect); taken != "" {
		h.did.text += "\n" + taken
	}
	return nil
}

// idle reports whether a result names no path.
func idle(res *cairn.Result) bool {
	return len(res.Restored)+len(res.Deleted)+len(res.Kept)+len(res.Conflicts)+len(res.Plan)+len(res.NotTakenBack)+res.Outside.Changes()+res.Outside.Staying() == 0
}

func add(sum, res *cairn.Result) {
	if res.Operation != "" {
		sum.Operation = res.Operation
	}
	sum.Restored, sum.Deleted = addNew(without(sum.Restored, res.Deleted), res.Restored), addNew(without(sum.Deleted, res.Restored), res.Deleted)
	sum.Kept, sum.Conflicts = addNew(sum.Kept, res.Kept), addNew(sum.Conflicts, res.Conflicts)
	sum.NotTakenBack, sum.Notes = addNew(sum.NotTakenBack, res.NotTakenBack), addNew(sum.Notes, res.Notes)
	sum.Outside = sum.Outside.Plus(res.Outside)
	sum.Plan, sum.PlanID = append(sum.Plan, res.Plan...), res.PlanID
}

// without is a list without what stands on another one: of several ways back of a path the last one counts.
func without(list, other cairn.Paths) cairn.Paths {
	gone := make(map[string]bool, len(other))
	for _, path := range other {
		gone[path] = true
	}
	return slices.DeleteFunc(list, func(path string) bool { return gone[path] })
}

// addNew adds what is not on a list yet. A way back beyond several turns lists what stays of all of them.
func addNew[T comparable](list, more []T) []T {
	known := make(map[T]bool, len(list))
	for _, v := range list {
		known[v] = true
	}
	for _, v := range more {
		if !known[v] {
			known[v] = true
			list = append(list, v)
		}
	}
	return list
}
