package httpapi

import (
	"context"
	"iter"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/seed-fb9cbc17/cairn"
)

// InRange names two states.
type InRange struct {
	InProject
	From string   `query:"from" maxLength:"200" default:"@" doc:"A hash."`
	To   string   `query:"to" maxLength:"200" doc:"A hash; by default the disk."`
	Path []string `query:"path,explode" maxItems:"1000" doc:"Only these paths and what is below them."`
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
		list, err := p.Repo.Changes(ctx, in.From, in.To, in.Path...)
		return append([]cairn.Change{}, list...), err
	})
	streamed[Diffs](s, endpoint{
		id: "diff", method: http.MethodGet, path: "/diff", tag: "diffs", summary: "What changed in files",
		description: "An answer that an error cuts short is broken off, so that it does not look whole.",
	}, "The changed files, ordered by the bytes of their paths.", func(ctx context.Context, p *Project, in *inDiff) (iter.Seq2[cairn.FileDiff, error], error) {
		return p.Repo.DiffFull(ctx, in.From, in.To, in.options(), in.Path...), nil
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
	list, err := p.Repo.Changes(ctx, in.From, in.To, in.Path...)
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
