package httpapi

import (
	"context"
	"net/http"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
)

// ForkRequest describes a fork.
type ForkRequest struct {
	Dir         string   `json:"dir" minLength:"1" maxLength:"8192" doc:"Absolute path of the directory to make. Nothing or an empty directory is there, and the directory above it exists."`
	Session     string   `json:"sessionID,omitempty" maxLength:"200" doc:"Begin with the newest state of this session, not with the present state."`
	WithIgnored bool     `json:"withIgnored,omitempty" doc:"Bring what the root holds and captures leave out: ignored files, and files above the limit of size."`
	Patterns    []string `json:"patterns,omitempty" maxItems:"1000" doc:"Bring of these only what matches, as in .gitignore. They imply withIgnored."`
	GitWorktree bool     `json:"gitWorktree,omitempty" doc:"Make it a linked work tree of the project's git repository. 409 where git does not allow one."`
	Branch      string   `json:"branch,omitempty" maxLength:"200" doc:"The new branch of the linked work tree, cairn/ and the name of the directory unless given. It implies gitWorktree."`
	DryRun      bool     `json:"dryRun,omitempty" doc:"Only say what would be done."`
}

// RemoveForkRequest names a fork to be removed.
type RemoveForkRequest struct {
	Dir    string `json:"dir" minLength:"1" maxLength:"8192" doc:"Absolute path of a fork of the project."`
	Force  bool   `json:"force,omitempty" doc:"Also with changes that were not merged, and files in no checkpoint."`
	DryRun bool   `json:"dryRun,omitempty" doc:"Only say what would be lost."`
}

type inFork struct {
	InProject
	Body ForkRequest
}

type inRemoveFork struct {
	InProject
	Body RemoveForkRequest
}

func (s *Server) forkOperations() {
	onProject(s, endpoint{
		id: "list-forks", method: http.MethodGet, path: "/forks", tag: "files", summary: "The forks of the project, and what each changed",
		description: "The present state of each fork is captured first.",
	}, func(ctx context.Context, p *Project, _ *InProject) ([]cairn.ForkInfo, error) {
		list, err := p.Repo.Forks(ctx)
		return append([]cairn.ForkInfo{}, list...), err
	})
	onProject(s, endpoint{
		id: "fork", method: http.MethodPost, path: "/fork", tag: "files", summary: "Make a second directory that goes on from here",
		description: "The project is captured first. The directory has a store that begins with the history of this one. 400 for a place where no copy can be, 409 where an earlier directory of this name has left checkpoints, and for a branch that exists. Events tell of it as of /checkout.",
	}, func(ctx context.Context, p *Project, in *inFork) (*cairn.ForkResult, error) {
		b := &in.Body
		dir, err := absoluteDir("body.dir", b.Dir)
		if err != nil {
			return nil, err
		}
		opt := cairn.ForkOptions{Session: b.Session, GitWorktree: b.GitWorktree || b.Branch != "", Branch: b.Branch}
		opt.WithIgnored, opt.Ignored, opt.DryRun = b.WithIgnored || len(b.Patterns) > 0, b.Patterns, b.DryRun
		return p.Repo.Fork(ctx, dir, opt)
	})
	onProject(s, endpoint{
		id: "remove-fork", method: http.MethodPost, path: "/fork/remove", tag: "files", summary: "Remove a fork: its directory and its store",
		description: "Its last state is captured first and kept here. 409 if something would be lost, unless forced; a dry run lists it.",
	}, func(ctx context.Context, p *Project, in *inRemoveFork) (*cairn.RemovedFork, error) {
		b := &in.Body
		dir, err := absoluteDir("body.dir", b.Dir)
		if err != nil {
			return nil, err
		}
		return p.Repo.RemoveFork(ctx, dir, cairn.RemoveForkOptions{Force: b.Force, DryRun: b.DryRun})
	})
}

// Fork is cairn.Repo.Fork.
func (r *Repo) Fork(ctx context.Context, dir string, opt cairn.ForkOptions) (res *cairn.ForkResult, err error) {
	project := r.handle.project
	opt.Progress = project.tellProgress(dir, opt.Progress)
	err = r.handle.write(ctx, func(ctx context.Context) error {
		res, err = answers.Fork(ctx, r.Repo, dir, opt)
		return err
	})
	if err == nil && !opt.DryRun {
		project.tellCopy(&res.CheckoutResult)
	}
	return res, err
}

// Forks is cairn.Repo.Forks.
func (r *Repo) Forks(ctx context.Context) (list []cairn.ForkInfo, err error) {
	err = r.handle.write(ctx, func(ctx context.Context) error {
		list, err = r.Repo.Forks(ctx)
		return err
	})
	return list, err
}

// RemoveFork is cairn.Repo.RemoveFork.
func (r *Repo) RemoveFork(ctx context.Context, dir string, opt cairn.RemoveForkOptions) (res *cairn.RemovedFork, err error) {
	err = r.handle.write(ctx, func(ctx context.Context) error {
		res, err = r.Repo.RemoveFork(ctx, dir, opt)
		return err
	})
	return res, err
}
