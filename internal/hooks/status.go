package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// status tells the effect of undo and redo now, and which steps are missing.
func (h *hook) status(ctx context.Context) error {
	history, err := h.history(ctx)
	if err != nil {
		return err
	}
	var newest *session.Message
	turns, back := 0, 0
	for i := len(history) - 1; i >= 0; i-- {
		m := &history[i]
		switch {
		case changedFiles(m) == 0:
			continue
		case m.Reverted:
			back++
			continue
		case newest == nil:
			newest = m
		}
		turns++
	}
	lines := []string{"cairn: " + wording.Count(turns, "turn") + " of this session can be taken back, " + fmt.Sprint(back) + " brought back"}
	if _, list, err := h.newestOperation(ctx, "undo"); err == nil && len(list) > 0 {
		lines = append(lines, "cairn undo takes back: "+list[0].Text(h.root, time.Now()))
	} else if newest != nil {
		lines = append(lines, fmt.Sprintf("cairn undo takes back: %s (%s, %s ago)", turnText(newest), wording.Count(changedFiles(newest), "file"), ago(time.Since(newest.Created))))
	}
	if trouble := h.trouble(ctx); trouble != "" {
		lines = append(lines, trouble)
	}
	h.did.text = strings.Join(lines, "\n")
	return nil
}

// noChanges says that no turn changed a file, unless the reason is that none could be
// captured.
func (h *hook) noChanges(ctx context.Context) {
	h.did.text = "cairn: this session has changed no files yet"
	if trouble := h.trouble(ctx); trouble != "" {
		h.did.text = "cairn: no turn of this session was captured: " + trouble
	}
}

// trouble says why steps of the session are missing, or will be; "" if nothing is known
// to be wrong. A full disk takes no notes either, so it is tried.
func (h *hook) trouble(ctx context.Context) string {
	text := h.unprotected(ctx)
	if text == "" && h.turn.Missed > 0 {
		return h.missing()
	}
	return text
}

// unprotected says why nothing can be captured now, "" if it can.
func (h *hook) unprotected(ctx context.Context) string {
	err := h.begin(ctx, h.session, h.parent, h.title)
	if err == nil {
		err = Probe(h.dataDir)
	}
	if err != nil {
		return cannotProtect(err)
	}
	return ""
}

// missing counts the steps that no checkpoint holds.
func (h *hook) missing() string {
	return wording.MissedLine(h.turn.Missed, h.turn.Why)
}

// cannotProtect is one line for the user: why nothing is captured, and the next step.
func cannotProtect(err error) string {
	text := "cairn cannot protect this session, so its changes cannot be taken back: " + failureText(err)
	switch next := Remedy(err); {
	case next != "":
		return text + "; " + next
	case errors.Is(err, cairn.ErrSealed): // its text names the next step
		return text
	case errors.Is(err, cairn.ErrCorrupt), errors.Is(err, cairn.ErrStore):
		return text + "; run in a shell: cairn doctor --fix"
	}
	return text
}

// tellsAbove reports whether the user is to know that checkpoints cover a directory above
// the agent's own. A session says so once, when it begins.
func (h *hook) tellsAbove() bool {
	return h.above && h.event != nil && h.kind == sessionBegin && h.parent == ""
}

// noteBroken lets the reply mention settings that are not in force: when the session
// begins, and at the end of a turn if the file has changed since.
func (h *hook) noteBroken() {
	begins := h.kind == sessionBegin && h.warnsAt() == sessionBegin
	switch {
	case h.parent != "":
	case h.broken == nil:
		h.turn.Broken = ""
	case begins, h.kind == stop && h.turn.Broken != h.broken.Sum:
		h.turn.Broken, h.tellsBroken = h.broken.Sum, true
	}
}

// noteGaps lets the reply mention what cannot be brought back, once: when the session begins, or with
// the end of its first turn where the agent shows a message only then.
func (h *hook) noteGaps(ctx context.Context) {
	if h.findGaps == nil || h.parent != "" || h.kind != h.warnsAt() || h.kind == stop && h.turn.Gaps {
		return
	}
	h.turn.Gaps = h.kind == stop
	h.gaps = append(h.gaps, h.findGaps(ctx)...)
}

// noteMissed lets the reply at the end of a turn mention steps that could not be captured since it last did.
func (h *hook) noteMissed() {
	if h.event != nil && h.kind == stop && h.parent == "" && h.turn.Missed > h.turn.Told {
		h.turn.Told = h.turn.Missed
		h.gaps = append(h.gaps, h.missing())
	}
}

// notices are lines for the user beside the answer to a call.
func (h *hook) notices() (lines []string) {
	if h.tellsAbove() {
		lines = append(lines, h.aboveText())
	}
	if h.tellsBroken {
		lines = append(lines, "cairn: "+h.broken.Text)
	}
	for _, gap := range h.gaps {
		lines = append(lines, "cairn: "+gap)
	}
	return lines
}

func (h *hook) aboveText() string {
	return "cairn looks after " + pathtext.Place(h.root) + ", the nearest directory above that has a store"
}

// probeSize is larger than a file that fits into an inode.
const probeSize = 64 << 10

// Probe reports why nothing can be written into a directory, which it makes.
func Probe(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	_ = atomicfile.Sweep(dir, atomicfile.Prefix) // what a probe that was killed has left
	f, err := atomicfile.Create(dir, atomicfile.Prefix)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, probeSize))
	return errors.Join(err, f.Close())
}
