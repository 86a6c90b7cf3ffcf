package hooks

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// A model believes what its conversation says. After an undo that still tells of files that are gone.
// So the next prompt goes to the model with a report of what went back since the prompt before it. The
// session keeps account of what was reported; see session.News.

// maxReport bounds a report, in bytes.
const maxReport = 4000

// takeNews fetches the report that goes along with a prompt. What an agent cannot pass on stays news.
func (h *hook) takeNews(ctx context.Context) error {
	if h.parent != "" || h.told || mute[h.agent] {
		return nil
	}
	n, err := h.sessions.TakeNews(ctx, h.session)
	if err == nil && n != nil {
		h.did.report = newsText(n)
	}
	return err
}

// newsText is the report. The words around it and the quotes keep a model from taking a prompt that
// went back for a new request.
func newsText(n *session.News) string {
	lines := []string{"Report of cairn, which keeps checkpoints for the user. It is no request. " + newsHead(n)}
	lines = append(lines, movedLines("taken back", n.TakenBack)...)
	lines = append(lines, movedLines("brought back", n.BroughtBack)...)
	lines = append(lines, shorten(pathLines(n))...)
	for _, text := range n.Git {
		lines = append(lines, "in git: "+text)
	}
	return bounded(lines, "Where the conversation says otherwise, it is out of date: look at these files again before you rely"+
		" on them. Do nothing again that was taken back, unless this prompt asks for it.")
}

// newsHead says what happened.
func newsHead(n *session.News) string {
	var what []string
	if len(n.TakenBack) > 0 {
		what = append(what, wording.Count(len(n.TakenBack), "turn")+" of this session taken back")
	}
	if len(n.BroughtBack) > 0 {
		what = append(what, wording.Count(len(n.BroughtBack), "turn")+" brought back")
	}
	if len(n.Others) > 0 {
		what = append(what, "files of this session changed by cairn "+n.Others[len(n.Others)-1])
	}
	if len(what) == 0 {
		what = []string{"files changed"}
	}
	return "Before this prompt: " + strings.Join(what, ", ") + "."
}

func movedLines(done string, turns []session.MovedTurn) (lines []string) {
	for i, t := range turns {
		if i == shownTurns {
			return append(lines, fmt.Sprintf("%s: %s", done, wording.Count(len(turns)-i, "more turn")))
		}
		text := "a turn without a recorded prompt"
		if prompt := wording.FirstLine(t.Prompt, shownPrompt); prompt != "" {
			text = `the turn "` + strings.ReplaceAll(prompt, `"`, "'") + `"`
		}
		if t.Partly {
			text = "a part of " + text
		}
		lines = append(lines, done+": "+text)
	}
	return lines
}

func pathLines(n *session.News) (lines []string) {
	for _, path := range n.Deleted {
		lines = append(lines, "deleted "+cairn.Path(path).Quoted())
	}
	for _, path := range n.Restored {
		lines = append(lines, "restored "+cairn.Path(path).Quoted())
	}
	for _, p := range n.Stay {
		lines = append(lines, "left as it was "+p.Path.Quoted()+": "+p.Reason)
	}
	return lines
}

// bounded joins lines, and drops some before the last where they are too long together.
func bounded(lines []string, last string) string {
	const more = "and more"
	size := len(last) + len(more) + 1
	for i, line := range lines {
		if size += len(line) + 1; size > maxReport {
			lines = append(lines[:i:i], more)
			break
		}
	}
	return strings.Join(append(lines, last), "\n")
}

// promptReport is an answer to a prompt that goes on to the model with a report.
type promptReport struct {
	Report string `json:"additionalContext,omitempty"` // where Copilot CLI looks for it
	Output struct {
		Event  string `json:"hookEventName"`
		Report string `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

func (h *hook) promptReport() promptReport {
	var r promptReport
	r.Output.Event, r.Output.Report = h.name, h.did.report
	if h.agent == known.Copilot {
		r.Report = h.did.report
	}
	return r
}
