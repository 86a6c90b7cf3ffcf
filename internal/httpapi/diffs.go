package httpapi

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/session"
)

// InRange names two states.
type InRange struct {
	InProject
	From string   `query:"from" maxLength:"200" default:"@" doc:"A hash."`
	To   string   `query:"to" maxLength:"200" doc:"A hash; by default the disk."`
	Path []string `query:"path,explode" maxItems:"1000" doc:"Only these paths and what is below them. One that is neither on a side nor on disk is 404."`
}

// changes lists the changes. A path that nothing has is most likely a typing error.
func (in *InRange) changes(ctx context.Context, r *Repo) ([]cairn.Change, error) {
	if err := r.CheckPaths(ctx, in.Path, in.From, in.To); err != nil {
		return nil, err
	}
	return r.Changes(ctx, in.From, in.To, in.Path...)
}

// InContext says how much surrounds a change.
type InContext struct {
	Context int `query:"context" minimum:"-1" maximum:"1000000" default:"3" doc:"Lines around a change; -1 is the whole file."`
}

func (c InContext) options() cairn.DiffOptions {
	opt := cairn.DiffOptions{Context: c.Context}
	switch c.Context {
	case 0:
		opt.Context = cairn.NoContext
	case -1:
		opt.Context = cairn.NoLimit
	}
	return opt
}

// Diffs is a list of changed files with their texts.
type Diffs struct {
	Diffs []cairn.FileDiff `json:"diffs"`
}

func (s *Server) diffOperations() {
	onProject(s, endpoint{
		id: "patch", method: http.MethodGet, path: "/patch", tag: "diffs", summary: "Which files changed, as absolute paths",
	}, func(ctx context.Context, p *Project, in *struct {
		InProject
		From string `query:"from" maxLength:"200" default:"@" doc:"A hash."`
		To   string `query:"to" maxLength:"200" doc:"A hash; by default the disk."`
	}) (cairn.Patch, error) {
		return p.Repo.Patch(ctx, in.From, in.To)
	})
	onProject(s, endpoint{
		id: "list-changes", method: http.MethodGet, path: "/changes", tag: "diffs", summary: "Which files changed, and how",
	}, func(ctx context.Context, p *Project, in *InRange) ([]cairn.Change, error) {
		list, err := in.changes(ctx, p.Repo)
		return append([]cairn.Change{}, list...), err
	})
	streamed[Diffs](s, endpoint{
		id: "diff", method: http.MethodGet, path: "/diff", tag: "diffs", summary: "What changed in files",
		description: "An answer that an error cuts short is broken off, so that it does not look whole.",
	}, "The changed files, ordered by the bytes of their paths.", func(ctx context.Context, p *Project, in *inDiff) (iter.Seq2[cairn.FileDiff, error], error) {
		list, err := in.changes(ctx, p.Repo)
		return p.Repo.FileDiffs(ctx, list, in.options()), err
	})
	huma.Register(s.api, rawBytes(s.describe(endpoint{
		id: "diff-text", method: http.MethodGet, path: "/diff/text", tag: "diffs", summary: "What changed in files, as git diff prints it",
	}), "text/x-diff", "A unified diff."), s.diffText)
}

type inDiff struct {
	InRange
	InContext
	HunkIDs bool `query:"hunkIDs" doc:"Name the hunks, for /plan and /apply: every run of changed lines is one then, with three lines of context."`
}

func (in *inDiff) options() cairn.DiffOptions {
	opt := in.InContext.options()
	opt.Hunks = in.HunkIDs
	return opt
}

func (s *Server) diffText(ctx context.Context, in *inDiff) (*huma.StreamResponse, error) {
	p, err := s.in(ctx, in.InProject, false)
	if err != nil {
		return nil, s.problemOf(ctx, err)
	}
	opt := in.options()
	list, err := in.changes(ctx, p.Repo)
	if err != nil {
		return nil, s.problemOf(ctx, err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", "text/x-diff; charset=utf-8")
		hc.SetStatus(http.StatusOK)
		if err := p.Repo.WriteDiff(ctx, hc.BodyWriter(), list, opt); err != nil {
			broken(s, err)
		}
	}}, nil
}

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
