package hooks

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

func (h *hook) tell(ctx context.Context, sum *cairn.Result, done, nothing string, turns int) {
	h.did.result = sum
	if turns == 0 {
		h.did.text = "cairn: " + nothing
		if h.leftStore() {
			h.did.text += "; what it did in " + pathtext.Place(h.movedFrom) + ", before that directory was gone, is in the store of that directory (in a shell: cairn du)"
		}
		if trouble := h.trouble(ctx); trouble != "" && !h.do.dryRun {
			h.did.text = "cairn: nothing was done: " + trouble
		}
		return
	}
	headline := fmt.Sprintf("cairn: %s %s", done, wording.Count(turns, "turn"))
	if h.do.dryRun {
		headline = "cairn: " + wouldHave(done) + " " + wording.Count(turns, "turn")
	}
	if len(sum.Restored)+len(sum.Deleted)+sum.Outside.Changes() == 0 {
		headline = "cairn: nothing was changed"
	}
	h.did.text = resultText(sum, headline)
	if h.turn.Missed > 0 && !slices.Contains(sum.Notes, h.missing()) {
		h.did.text += "\n" + h.missing()
	}
	h.did.text += h.besideUndo()
}

// leftStore reports whether the directory in which the session began is gone, and its store did not come along. A
// store comes along with a directory that was renamed, and not with a copy.
func (h *hook) leftStore() bool {
	if h.movedFrom == "" {
		return false
	}
	_, err := os.Lstat(cairn.StorePath(filepath.Dir(h.dataDir), h.movedFrom))
	return err == nil
}

// shownTurns and shownFiles bound the lists in a conversation.
const (
	shownTurns = 10
	shownFiles = 20
)

// log lists the session's newest turns. Their numbers are those that undo takes.
func (h *hook) log(ctx context.Context) error {
	history, err := h.history(ctx)
	if err != nil {
		return err
	}
	var lines []string
	n, shown := 0, 0
	for i := len(history) - 1; i >= 0 && shown < max(shownTurns, h.do.count); i-- {
		m := &history[i]
		files, steps := changedFiles(m), len(m.Steps)
		number := "   "
		switch {
		case steps == 0 || files == 0:
			continue
		case m.Reverted:
			number = "  -"
		default:
			n++
			number = fmt.Sprintf("%3d", n)
		}
		shown++
		lines = append(lines, fmt.Sprintf("%s  %-9s %-9s %s", number, ago(time.Since(m.Created)), wording.Count(files, "file"), cmp.Or(wording.FirstLine(m.Prompt, shownPrompt), wording.NoPrompt)))
	}
	if len(lines) == 0 {
		h.noChanges(ctx)
		return nil
	}
	h.did.text = "cairn: turns of this session that changed files, newest first (- is taken back)\n" + strings.Join(lines, "\n")
	return nil
}

// changedFiles counts the paths that the steps of a message changed, known changes that
// no capture holds included.
func changedFiles(m *session.Message) int {
	seen := make(map[string]bool)
	for i := range m.Steps {
		for _, file := range m.Steps[i].Files() {
			seen[file] = true
		}
		for _, stay := range m.Steps[i].Uncaptured() {
			seen[string(stay.Path)] = true
		}
	}
	return len(seen)
}

// diff lists the changes of one turn. The turns in effect are counted from the newest,
// as undo counts them.
func (h *hook) diff(ctx context.Context) error {
	history, err := h.history(ctx)
	if err != nil {
		return err
	}
	n := 0
	for i := len(history) - 1; i >= 0; i-- {
		m := &history[i]
		if m.Reverted || changedFiles(m) == 0 {
			continue
		}
		if n++; n == h.do.count {
			return h.diffMessage(ctx, m)
		}
	}
	if n > 0 {
		h.did.text = fmt.Sprintf("cairn: this session has only %s that changed files", wording.Count(n, "turn"))
		return nil
	}
	h.noChanges(ctx)
	return nil
}

func (h *hook) diffMessage(ctx context.Context, m *session.Message) error {
	var lines []string
	for d, err := range h.sessions.Diff(ctx, h.session, session.Scope{Message: m.ID}, cairn.DiffOptions{}) {
		if err != nil {
			return err
		}
		counts := fmt.Sprintf("+%d -%d", d.Additions, d.Deletions)
		if d.Note != "" {
			counts = d.Note
		}
		lines = append(lines, fmt.Sprintf("%-8s %s  %s", d.Status, pathtext.Quote(string(d.File)), counts))
	}
	lines = append(lines, changedElsewhere(m)...)
	for i := range m.Steps {
		for _, stay := range m.Steps[i].Uncaptured() {
			lines = append(lines, fmt.Sprintf("%-8s %s  %s, cannot be taken back", "changed", pathtext.Quote(string(stay.Path)), stay.Reason))
		}
	}
	h.did.text = fmt.Sprintf("cairn: %s changed %s ago: %s\n%s", wording.Count(len(lines), "file"), ago(time.Since(m.Created)), turnText(m), strings.Join(shorten(lines), "\n"))
	return nil
}

// changedElsewhere lists what a message changed in other roots of the session.
func changedElsewhere(m *session.Message) (lines []string) {
	for i := range m.Steps {
		for _, o := range m.Steps[i].Elsewhere {
			for _, file := range o.Patch.Files {
				lines = append(lines, fmt.Sprintf("%-8s %s", "changed", pathtext.Quote(file)))
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}
