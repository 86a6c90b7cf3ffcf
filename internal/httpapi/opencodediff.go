package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/session"
)

// ocDiff is OpenCode's SnapshotFileDiff.
type ocDiff struct {
	File      string       `json:"file"`
	Patch     string       `json:"patch"`
	Additions int          `json:"additions"`
	Deletions int          `json:"deletions"`
	Status    cairn.Status `json:"status"`
}

// openCodeDiff answers with the changes of the turn that begins with a message, or of the
// whole session. An unknown message, and one that is not the user's, has no changes.
func openCodeDiff(p *Project, r *http.Request) (any, error) {
	ctx, id, message := r.Context(), r.PathValue("id"), r.URL.Query().Get("messageID")
	out := []ocDiff{}
	var in session.Scope
	if message != "" {
		list, err := p.Sessions.History(ctx, id)
		if err != nil {
			return nil, err
		}
		if !isUsers(list, message) {
			return out, nil
		}
		in = session.Scope{Message: message, Turn: true}
	}
	list, err := p.Sessions.Changes(ctx, id, in)
	if message == "" && errors.Is(err, session.ErrNotFound) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	for d, err := range p.Repo.FileDiffs(ctx, list, cairn.DiffOptions{Context: cairn.NoLimit}) {
		if err != nil {
			return nil, err
		}
		file := pathtext.Encode(string(d.File))
		out = append(out, ocDiff{file, indexPatch(file, &d), d.Additions, d.Deletions, d.Status})
	}
	return out, nil
}

// isUsers reports whether a turn begins with a message. In a session without a message of
// the user, each message is a turn.
func isUsers(list []session.Message, id string) bool {
	none := true
	found := ""
	for _, m := range list {
		none = none && m.Role != session.RoleUser
		if m.ID == id {
			found = "another"
			if m.Role == session.RoleUser {
				found = session.RoleUser
			}
		}
	}
	return found == session.RoleUser || found != "" && none
}

// indexPatch is a patch as the npm package diff prints it: an Index line, tabs after
// the names, counts in every range, and the whole file as context.
func indexPatch(file string, d *cairn.FileDiff) string {
	if d.Note != "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Index: %s\n%s\n--- %s\t\n+++ %s\t\n", file, strings.Repeat("=", 67), file, file)
	_, hunks, ok := strings.Cut(d.Patch, "\n@@ ")
	if !ok {
		return b.String()
	}
	ranges, rest, _ := strings.Cut(hunks, " @@")
	from, to, _ := strings.Cut(ranges, " ")
	_, lines, _ := strings.Cut(rest, "\n")
	fmt.Fprintf(&b, "@@ %s %s @@\n%s", counted(from), counted(to), lines)
	return b.String()
}

// counted adds the count of one that git leaves out of a range.
func counted(r string) string {
	if strings.Contains(r, ",") {
		return r
	}
	return r + ",1"
}
