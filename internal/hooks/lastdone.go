package hooks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/lastdone"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// A typed "cairn undo" without a number means what it means in a shell: the newest turn of this
// session, or an operation if that is newer, for instance a restore that was typed in a shell
// since. With a number it means turns. Operations from before the session do not count. An adapter
// that asks for an undo means turns, too.

// operationBack undoes or redoes an operation if that is what is newest. done is false if it is a
// turn, or nothing.
func (h *hook) operationBack(ctx context.Context) (done bool, err error) {
	if !h.said || h.do.numbered {
		return false, nil
	}
	finder, list, err := h.newestOperation(ctx, h.do.verb)
	if err != nil || len(list) == 0 {
		return false, err
	}
	res, err := finder.Take(ctx, &list[0], session.MoveOptions{DryRun: h.do.dryRun, Outside: h.do.outside}, nil)
	res = inAll(res)
	if err != nil {
		return false, err
	}
	h.tellOperation(res, list)
	return true, nil
}

// newestOperation lists what undo or redo could take back if an operation of the session's time is
// the newest of it, and nothing else. A store that cannot be opened has none; the search for turns
// reports the fault.
func (h *hook) newestOperation(ctx context.Context, verb string) (*lastdone.Finder, []lastdone.Choice, error) {
	if h.finder == nil {
		return nil, nil, nil
	}
	finder, err := h.finder()
	if err != nil {
		return nil, nil, nil
	}
	finder.Outside = h.do != nil && h.do.outside
	list, err := h.candidates(ctx, finder, verb)
	if err != nil || len(list) == 0 || list[0].Did() != lastdone.Operation {
		return nil, nil, err
	}
	s, err := h.sessions.Get(ctx, h.session)
	if errors.Is(err, cairn.ErrNotFound) || err == nil && list[0].Operation.When.Before(s.Created) {
		return nil, nil, nil
	}
	return finder, list, err
}

// candidates lists what undo or redo could take back.
func (h *hook) candidates(ctx context.Context, finder *lastdone.Finder, verb string) ([]lastdone.Choice, error) {
	want := lastdone.Want{Session: h.session}
	if verb == "redo" {
		return finder.Redo(ctx, want)
	}
	return finder.Undo(ctx, want)
}

// tellOperation says which operation was taken back, and how to take back the turn before it.
func (h *hook) tellOperation(res *cairn.Result, list []lastdone.Choice) {
	now := time.Now()
	h.did.result = res
	h.did.text = resultText(res, fmt.Sprintf("cairn: %s %s", h.didBack(h.do.dryRun), list[0].Text(h.root, now)))
	if len(list) > 1 {
		h.did.text += fmt.Sprintf("\nit is newer than %s, which cairn %s 1 takes", list[1].Text(h.root, now), h.do.verb)
	}
}

// didBack says in words what undo or redo did, or would do.
func (h *hook) didBack(dryRun bool) string {
	words := "took back"
	if h.do.verb == "redo" {
		words = "brought back"
	}
	if dryRun {
		return wouldHave(words)
	}
	return words
}

func wouldHave(words string) string {
	return strings.NewReplacer("took", "would take", "brought", "would bring").Replace(words)
}

// named are the lines with the prompts of the turns that a call took back or brought back. before
// are the messages that were taken back earlier.
func (h *hook) named(ctx context.Context, before map[string]bool) (lines []string) {
	history, err := h.history(ctx)
	if before == nil || err != nil {
		return nil
	}
	done := "taken back"
	if h.do.verb == "redo" {
		done = "brought back"
	}
	return namedTurns(history, done, func(m *session.Message) bool { return m.Reverted != before[m.ID] })
}

// namedTurns are the lines with the prompts of turns that changed files.
func namedTurns(history []session.Message, done string, taken func(*session.Message) bool) (lines []string) {
	for i := range history {
		m := &history[i]
		if taken(m) && m.Prompt != "" && m.Meta[metaBetween] == "" && changedFiles(m) > 0 {
			lines = append(lines, done+": "+turnText(m))
		}
	}
	if len(lines) > shownTurns {
		more := len(lines) - shownTurns
		lines = append(lines[:shownTurns], fmt.Sprintf("and %s", wording.Count(more, "more turn")))
	}
	return lines
}

// turnText names a turn by its prompt. Claude Code hands the answer to a command on to the model, in
// the user's name: a prompt is quoted in it, so that it does not read as the user's next wish.
func turnText(m *session.Message) string {
	if prompt := wording.FirstLine(m.Prompt, shownPrompt); prompt != "" {
		return `the turn "` + prompt + `"`
	}
	return "a turn without a recorded prompt"
}
