package httpapi

import (
	"context"
	"fmt"
	"net/http"

	"github.com/seed-fb9cbc17/cairn"
)

// SourceOfChanges is a directory or a checkpoint that changes come from.
type SourceOfChanges struct {
	Directory string `json:"directory,omitempty" maxLength:"8192" doc:"Another registered root, or a directory in it. Its present state is captured first."`
	Hash      string `json:"hash,omitempty" maxLength:"200" doc:"A checkpoint: of the directory, where one is given, else of the project."`
}

// MergeRequest describes a merge.
type MergeRequest struct {
	SourceOfChanges
	Paths  []string `json:"paths,omitempty" minItems:"1" maxItems:"100000" doc:"Only these, and what is below them."`
	Hunks  []string `json:"hunks,omitempty" minItems:"1" maxItems:"100000" pattern:"^[0-9a-f]{4,12}$" doc:"Only these hunks of /compare, by their names or beginnings of these."`
	Base   string   `json:"base,omitempty" maxLength:"200" doc:"The state that both sides come from, a checkpoint of either; by default the newest that they have in common."`
	DryRun bool     `json:"dryRun,omitempty" doc:"Only say what would be done."`
	Plan   string   `json:"planID,omitempty" pattern:"^[0-9a-f]{16}$" doc:"Carry out this plan and no other; 409 if it would be another one now."`
}

// CompareRequest names the sources of a comparison.
type CompareRequest struct {
	Sources []SourceOfChanges `json:"sources" minItems:"1" maxItems:"100"`
	Paths   []string          `json:"paths,omitempty" maxItems:"100000" doc:"Only these, and what is below them."`
	Base    string            `json:"base,omitempty" maxLength:"200" doc:"The state that all come from; by default the newest that each has in common with the project."`
	HunkIDs bool              `json:"hunkIDs,omitempty" doc:"List the hunks of each file."`
}

type inMerge struct {
	InProject
	Body MergeRequest
}

type inCompare struct {
	InProject
	Body CompareRequest
}

func (s *Server) mergeOperations() {
	onProject(s, endpoint{
		id: "merge", method: http.MethodPost, path: "/merge", tag: "going back", summary: "Bring in what changed in another directory, or at a checkpoint",
		description: "Three-way, from the state that both sides have in common; 404 without one. A path where a merge is not clean stays and is a conflict. " +
			"An operation, which undo takes back. 409 while another call that changes files of the project is under way.",
	}, func(ctx context.Context, p *Project, in *inMerge) (*cairn.Result, error) {
		b := &in.Body
		paths, err := decodePaths("body.paths", b.Paths)
		if err != nil {
			return nil, err
		}
		from, err := s.source(ctx, p, "body", b.SourceOfChanges)
		if err != nil {
			return nil, err
		}
		return p.Repo.Merge(ctx, from, cairn.MergeOptions{Paths: paths, Hunks: b.Hunks, Base: b.Base, DryRun: b.DryRun, Plan: b.Plan})
	})
	onProject(s, endpoint{
		id: "compare", method: http.MethodPost, path: "/compare", tag: "files", summary: "What several directories or checkpoints changed, side by side",
		description: "Nothing is changed. Each source is compared with the state that it has in common with the project. Files that another source, or the project itself, changed, too, are marked.",
	}, func(ctx context.Context, p *Project, in *inCompare) (*cairn.Comparison, error) {
		paths, err := decodePaths("body.paths", in.Body.Paths)
		if err == nil && len(in.Body.Sources) == 0 { // null
			err = badField("body.sources", "", "expected at least one")
		}
		if err != nil {
			return nil, err
		}
		sources := make([]cairn.MergeSource, len(in.Body.Sources))
		for i, from := range in.Body.Sources {
			if sources[i], err = s.source(ctx, p, fmt.Sprintf("body.sources[%d]", i), from); err != nil {
				return nil, err
			}
		}
		return p.Repo.Compare(ctx, sources, cairn.CompareOptions{Paths: paths, Base: in.Body.Base, Hunks: in.Body.HunkIDs})
	})
}

// source opens a source until ctx ends, and captures its directory unless a checkpoint is named.
func (s *Server) source(ctx context.Context, p *Project, field string, from SourceOfChanges) (cairn.MergeSource, error) {
	switch {
	case from.Directory == "" && from.Hash == "":
		return cairn.MergeSource{}, badField(field+".directory", "", "expected a directory or a hash")
	case from.Directory == "":
		return cairn.MergeSource{Checkpoint: from.Hash}, nil
	}
	dir, err := absoluteDir(field+".directory", from.Directory)
	if err != nil {
		return cairn.MergeSource{}, err
	}
	other, err := s.projects.find(dir)
	if err != nil {
		return cairn.MergeSource{}, err
	}
	if other.root == p.Root {
		return cairn.MergeSource{}, badField(field+".directory", from.Directory, "expected another directory than the project, or a hash alone")
	}
	opened, err := other.open(ctx, false)
	if err != nil {
		return cairn.MergeSource{}, err
	}
	src := cairn.MergeSource{Repo: opened.Repo.Repo, Checkpoint: from.Hash}
	if src.Checkpoint != "" {
		return src, nil
	}
	t, err := opened.Repo.Track(ctx, cairn.TrackOptions{})
	if err != nil {
		return src, fmt.Errorf("capture %s: %w", other.root, err)
	}
	src.Checkpoint = t.Checkpoint
	return src, nil
}

// Merge is cairn.Repo.Merge.
func (r *Repo) Merge(ctx context.Context, from cairn.MergeSource, opt cairn.MergeOptions) (*cairn.Result, error) {
	return r.goBack(ctx, "merge", opt.DryRun, func(ctx context.Context) (*cairn.Result, error) {
		return r.Repo.Merge(ctx, from, opt)
	})
}

// Compare is cairn.Repo.Compare.
func (r *Repo) Compare(ctx context.Context, from []cairn.MergeSource, opt cairn.CompareOptions) (c *cairn.Comparison, err error) {
	err = r.handle.write(ctx, func(ctx context.Context) error {
		c, err = r.Repo.Compare(ctx, from, opt)
		return err
	})
	return c, err
}
