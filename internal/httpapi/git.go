package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
)

// errGitPaths is the error for paths beside git, which goes back as a whole.
func errGitPaths() error { return badField("body.paths", "", "expected none beside git") }

// GitState says whether checkpoints record git, and what has moved between two states.
type GitState struct {
	cairn.GitProtection
	Moved []string `json:"moved" doc:"In words, empty if nothing has or if a checkpoint does not say how git was."`
}

// GitRestore describes how git goes back to a checkpoint.
type GitRestore struct {
	Hash   string   `json:"hash" minLength:"1" maxLength:"200" doc:"Where to go."`
	Parts  []string `json:"parts,omitempty" enum:"head,refs,index" maxItems:"3" doc:"By default all of them."`
	DryRun bool     `json:"dryRun,omitempty" doc:"Only say what would be done."`
	Plan   string   `json:"planID,omitempty" pattern:"^[0-9a-f]{16}$" doc:"Of a dry run. Nothing is done without one."`
}

func (b *GitRestore) options() (cairn.GitRestoreOptions, error) {
	opt := cairn.GitRestoreOptions{DryRun: b.DryRun, Plan: b.Plan}
	if err := answers.ChooseGit(&opt, b.Parts...); err != nil {
		return opt, badField("body.parts", strings.Join(b.Parts, ","), err.Error())
	}
	return opt, nil
}

func (s *Server) gitOperations() {
	onProject(s, endpoint{
		id: "git-state", method: http.MethodGet, path: "/git", tag: "going back", summary: "What has moved in the git repository",
	}, func(ctx context.Context, p *Project, in *struct {
		InProject
		From string `query:"from" maxLength:"200" default:"@" doc:"A checkpoint."`
		To   string `query:"to" maxLength:"200" doc:"A later one, by default the present state."`
	}) (*GitState, error) {
		moved, err := p.Repo.GitMoved(ctx, in.From, in.To)
		return &GitState{p.Repo.GitProtection(), append([]string{}, moved...)}, err
	})
	onProject(s, endpoint{
		id: "restore-git", method: http.MethodPost, path: "/git/restore", tag: "going back", summary: "Bring the git repository back to a checkpoint",
		description: "HEAD, refs, list of stashes and index, and no file. It changes the repository, so only the plan of a dry run is carried out, whose id the request names: 409 without one. " +
			"/undo with git takes it back.",
	}, func(ctx context.Context, p *Project, in *struct {
		InProject
		Body GitRestore
	}) (*cairn.GitResult, error) {
		opt, err := in.Body.options()
		if err != nil {
			return nil, err
		}
		return p.Repo.RestoreGit(ctx, in.Body.Hash, opt)
	})
}

// RestoreGit is cairn.Repo.RestoreGit.
func (r *Repo) RestoreGit(ctx context.Context, spec string, opt cairn.GitRestoreOptions) (res *cairn.GitResult, err error) {
	err = r.handle.goBack(ctx, opt.DryRun, func(ctx context.Context) error {
		res, err = r.Repo.RestoreGit(ctx, spec, opt)
		return err
	})
	if err == nil && res.Operation != "" {
		r.handle.project.tellResult("restore", "", &cairn.Result{Operation: res.Operation, Git: res})
	}
	return res, err
}
