package httpapi

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/retention"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Paged selects a page of a long list.
type Paged struct {
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many at most."`
	After string `query:"after" maxLength:"64" doc:"Id of the last one of the page before."`
}

// page returns one page of a sequence. The id of a page's last element selects the next
// page.
func page[T any](seq iter.Seq2[*T, error], p Paged, id func(*T) string) (list []*T, next string, err error) {
	list = []*T{}
	skipping := p.After != ""
	for v, err := range seq {
		switch {
		case err != nil:
			return nil, "", err
		case skipping:
			skipping = id(v) != p.After
		case len(list) == p.Limit:
			return list, id(list[len(list)-1]), nil
		default:
			list = append(list, v)
		}
	}
	if skipping {
		return nil, "", badField("query.after", p.After, "expected the id of an element of this list")
	}
	return list, "", nil
}

// CheckpointInfo is one recorded state.
type CheckpointInfo struct {
	cairn.Checkpoint
	Passed  *bool               `json:"passed,omitempty" doc:"Whether its tests passed; not there without results. Only in lists of checkpoints and where one is asked for."`
	Work    *session.Work       `json:"work,omitempty" doc:"What an agent did, or was asked to do. Only in lists of checkpoints and where one is asked for."`
	Skipped []cairn.SkippedPath `json:"skipped,omitempty" doc:"Present, but not captured. Only where one checkpoint is asked for."`
	Secrets []cairn.Secret      `json:"secrets,omitempty" doc:"Places of credentials that captures found. Only where one checkpoint is asked for."`

	Fetched  *cairn.Machine `json:"fetched,omitempty" doc:"The machine that pushed it. Only with fetched."`
	Imported bool           `json:"imported,omitempty" doc:"It came in a bundle. Only with fetched."`
}

// CheckpointList is a page of checkpoints.
type CheckpointList struct {
	Checkpoints []CheckpointInfo `json:"checkpoints"`
	Next        string           `json:"next,omitempty" doc:"The after of the next page; not there on the last one."`
}

// Status describes a project and the changes since its newest checkpoint.
type Status struct {
	Root       string         `json:"root"`
	Store      string         `json:"store"`
	Size       int64          `json:"size" doc:"Of the store, in bytes."`
	Checkpoint CheckpointInfo `json:"checkpoint"`
	Changed    int            `json:"changed" doc:"Files that differ from the newest checkpoint."`
	Watching   Watching       `json:"watching" doc:"How the server finds what has changed."`
}

// TrackRequest holds the options of a track.
type TrackRequest struct {
	Message   string   `json:"message,omitempty" maxLength:"65536" doc:"What the checkpoint is for; always makes a new one."`
	Author    string   `json:"author,omitempty" maxLength:"200" doc:"Who made the changes since the one before."`
	Verify    bool     `json:"verify,omitempty" doc:"Read every file, whatever the stat cache says."`
	Paths     []string `json:"paths,omitempty" maxItems:"10000" doc:"Read first, and captured although ignored, if small."`
	OnlyPaths bool     `json:"onlyPaths,omitempty" doc:"Look at nothing but paths."`
	Rest      bool     `json:"rest,omitempty" doc:"With onlyPaths: capture everything else in the background; the answer names the ticket."`
	Partial   bool     `json:"partial,omitempty" doc:"When the deadline passes, answer with what was read."`
	Deadline  int64    `json:"deadline,omitempty" minimum:"1" maximum:"3600000" doc:"In milliseconds from now."`
}

func (s *Server) checkpointOperations() {
	onProject(s, endpoint{
		id: "status", method: http.MethodGet, path: "/status", tag: "checkpoints", summary: "What is looked after, and what changed",
	}, status)
	register(s, endpoint{
		id: "track", method: http.MethodPost, path: "/track", tag: "checkpoints", summary: "Take a checkpoint",
	}, s.track)
	onProject(s, endpoint{
		id: "list-checkpoints", method: http.MethodGet, path: "/checkpoints", tag: "checkpoints", summary: "All checkpoints, newest first",
	}, func(ctx context.Context, p *Project, in *struct {
		InProject
		Paged
	}) (out CheckpointList, err error) {
		list, next, err := page(p.Repo.Checkpoints(ctx), in.Paged, func(c *cairn.Checkpoint) string { return c.ID })
		if err != nil {
			return out, err
		}
		out = CheckpointList{Checkpoints: []CheckpointInfo{}, Next: next}
		known, passed := make(session.WorkCache), answers.Verdicts(ctx, p.Repo.Repo)
		for _, c := range list {
			info := CheckpointInfo{Checkpoint: *c, Passed: passed(c.ID)}
			if info.Work, err = p.Sessions.WorkOf(ctx, c.ID, known); err != nil {
				return out, err
			}
			out.Checkpoints = append(out.Checkpoints, info)
		}
		return out, nil
	})
	onProject(s, endpoint{
		id: "get-checkpoint", method: http.MethodGet, path: "/checkpoints/{hash}", tag: "checkpoints", summary: "One checkpoint",
	}, func(ctx context.Context, p *Project, in *struct {
		InProject
		InCheckpoint
	}) (info CheckpointInfo, err error) {
		c, err := p.Repo.Lookup(ctx, in.Hash)
		if err != nil {
			return info, err
		}
		info.Checkpoint, info.Passed = *c, answers.Verdicts(ctx, p.Repo.Repo)(c.ID)
		if info.Work, err = p.Sessions.WorkOf(ctx, c.ID, make(session.WorkCache)); err != nil {
			return info, err
		}
		if info.Skipped, err = c.Skipped(); err == nil {
			info.Secrets, err = c.Secrets()
		}
		return info, err
	})
}

// InCheckpoint names a checkpoint in the path.
type InCheckpoint struct {
	Hash string `path:"hash" maxLength:"200" doc:"Tree id, checkpoint id, unique prefix of either, @, @~N or the name of a pin."`
}

func status(ctx context.Context, p *Project, _ *InProject) (out Status, err error) {
	newest, err := p.Repo.Lookup(ctx, "@")
	if err != nil {
		return out, err
	}
	changes, err := p.Repo.Changes(ctx, newest.ID, "")
	if err != nil {
		return out, err
	}
	secrets, err := newest.Secrets()
	if err != nil {
		return out, err
	}
	size, err := retention.SizeOf(p.Repo.StoreDir())
	return Status{
		Root: pathtext.Encode(p.Root), Store: pathtext.Encode(p.Repo.StoreDir()), Size: size,
		Checkpoint: CheckpointInfo{Checkpoint: *newest, Secrets: secrets}, Changed: len(changes), Watching: Watching(p.Repo.Watching()),
	}, err
}

func (s *Server) track(ctx context.Context, in *struct {
	InProject
	Body TrackRequest
}) (*body[protocol.Track], error) {
	opt, err := in.Body.options("body.")
	if err != nil {
		return nil, err
	}
	p, err := s.in(ctx, in.InProject, true)
	if err != nil {
		return nil, err
	}
	if in.Body.Deadline > 0 {
		// The deadline belongs to the request and not to the connection: it stays when the
		// client hangs up.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), time.Duration(in.Body.Deadline)*time.Millisecond)
		defer cancel()
	}
	t, err := p.Repo.Track(ctx, opt)
	if err != nil {
		return nil, err
	}
	out := protocol.Track{TrackResult: *t}
	if in.Body.Rest {
		out.Rest = p.Repo.handle.project.trackRest(opt)
	}
	return &body[protocol.Track]{out}, nil
}

// options checks a request and returns it in the form of the library.
func (t *TrackRequest) options(field string) (opt cairn.TrackOptions, err error) {
	switch {
	case t.OnlyPaths && len(t.Paths) == 0:
		return opt, badField(field+"paths", "", "expected at least one beside onlyPaths")
	case t.Rest && !t.OnlyPaths:
		return opt, badField(field+"rest", "true", "expected onlyPaths beside it")
	}
	opt = cairn.TrackOptions{Message: t.Message, Author: t.Author, Verify: t.Verify, OnlyPaths: t.OnlyPaths, AllowPartial: t.Partial}
	opt.Paths, err = decodePaths(field+"paths", t.Paths)
	return opt, err
}

// decodePaths decodes the paths of a body.
func decodePaths(field string, texts []string) ([]string, error) {
	var paths []string
	for _, text := range texts {
		path, err := pathtext.Decode(text)
		switch {
		case err != nil:
			return nil, badField(field, text, err.Error())
		case path == "":
			return nil, badField(field, text, "expected no empty path (. means everything)")
		}
		paths = append(paths, path)
	}
	return paths, nil
}
