package session

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// titleColumns is the number of columns of a title that is made from a prompt.
const titleColumns = 72

// title is the title of a session for people.
func (d *digest) title() string {
	if d.Title == "" && d.Fork != nil && d.First != "" {
		return d.First + " (fork)"
	}
	return cmp.Or(d.Title, d.First)
}

// untitled: an earlier release wrote the digest, which knew no First.
func (d *digest) untitled() bool {
	return d.title() == "" && d.Work != nil && d.Work.Prompt != ""
}

// firstPrompt is the first line of the first prompt. The line that has been recorded stays when its
// message leaves the session: a session keeps its title.
func (h *history) firstPrompt() string {
	if h.First != "" {
		return h.First
	}
	for _, m := range h.messages {
		if m.Role == RoleUser && m.Prompt != "" {
			return wording.FirstLine(m.Prompt, titleColumns)
		}
	}
	return ""
}

// inBrackets is the title as an addition to the id, "" for none.
func (d *digest) inBrackets() string {
	if d.title() == "" {
		return ""
	}
	return ` ("` + wording.FirstLine(d.title(), titleColumns) + `")`
}

// Title returns the title of a session on one line, its agent and id where it has none. A session
// that is gone is named by its id.
func (s *Sessions) Title(ctx context.Context, id string) (string, error) {
	h, err := s.load(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return name(id), nil
	}
	if err != nil {
		return "", err
	}
	if title := h.title(); title != "" {
		return wording.FirstLine(title, titleColumns), nil
	}
	return strings.TrimSpace(h.Meta[MetaAgent] + " " + name(id)), nil
}

// forgetTexts drops prompts, titles and commands.
func (r *record) forgetTexts() {
	for i := range r.Events {
		r.Events[i].forgetTexts()
	}
	r.Now.Title, r.Now.First = "", ""
	r.Now.Meta = withoutCommand(r.Now.Meta)
	if r.Now.Work != nil {
		w := *r.Now.Work
		w.Prompt, w.Calls = "", withoutCommands(w.Calls)
		r.Now.Work = &w
	}
}

func (ev *event) forgetTexts() {
	ev.Prompt, ev.Meta = "", withoutCommand(ev.Meta)
	parts := make([]Part, len(ev.Parts))
	for i, p := range ev.Parts {
		p.Meta = withoutCommand(p.Meta)
		parts[i] = p
	}
	if len(parts) > 0 {
		ev.Parts = parts
	}
}

// withoutCommand returns meta without the command of a tool.
func withoutCommand(meta map[string]string) map[string]string {
	if _, ok := meta[MetaCommand]; !ok {
		return meta
	}
	out := maps.Clone(meta)
	delete(out, MetaCommand)
	return out
}

func withoutCommands(calls []Call) []Call {
	var out []Call
	for _, c := range calls {
		out = append(out, Call{Tool: c.Tool})
	}
	return out
}
