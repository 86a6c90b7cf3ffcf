package httpapi

import (
	"context"
	"net/http"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/session"
)

// FetchRequest says what to fetch.
type FetchRequest struct {
	Session string `json:"sessionID,omitempty" maxLength:"200" doc:"Only this session: an id, the beginning of one, or @ for the newest of another store. By default every line of the project."`
}

// ResumeRequest names a session to go on with.
type ResumeRequest struct {
	Session string `json:"sessionID,omitempty" maxLength:"200" doc:"An id, the beginning of one, or @ for the session that was changed last, which is the default. One that is not here is fetched."`
	Fetch   bool   `json:"fetch,omitempty" doc:"Fetch the session first, although it is here. @ is then the newest session of another store."`
	KeepNew bool   `json:"keepNew,omitempty" doc:"Leave alone what was created since, unless it stands in the place of what comes back."`
	DryRun  bool   `json:"dryRun,omitempty" doc:"Only say what would be done. A session that is not here is fetched."`
	Plan    string `json:"planID,omitempty" pattern:"^[0-9a-f]{16}$" doc:"Carry out this plan and no other; 409 if it would be another one now."`
}

type inFetch struct {
	InProject
	Body *FetchRequest
}

type inResume struct {
	InProject
	Body *ResumeRequest
}

// PushedLines names the lines that a remote did not have in their state.
type PushedLines struct {
	Lines cairn.Paths `json:"lines"`
}

// knownRemote is part of the description of each operation. A caller of the server that could name a remote
// could write to any path and let the server speak with any host.
const knownRemote = "The remote is that of the setting sync, else that of the last cairn push of the project; a request names none. " +
	"409 where there is none, and without a git program; 502 if the remote fails, 504 if it does not get on."

// lastSource is part of the descriptions of operations that fetch.
const lastSource = " Where nothing was pushed yet, it is the remote from which something was fetched last."

// remoteOperations speak with the remote of a project.
func (s *Server) remoteOperations() {
	onProject(s, endpoint{
		id: "push", method: http.MethodPost, path: "/push", tag: "remote", summary: "Send the checkpoints of the project to its remote",
		description: "The names of the lines that the remote did not have in that state are the answer. " + knownRemote,
	}, func(ctx context.Context, p *Project, _ *InProject) (PushedLines, error) {
		lines, err := p.Repo.Push(ctx)
		return PushedLines{append(cairn.Paths{}, lines...)}, ofRemote(err)
	})
	onProject(s, endpoint{
		id: "fetch", method: http.MethodPost, path: "/fetch", tag: "remote", summary: "Bring what other stores of the project have pushed to its remote",
		description: "No file of the project changes. " + knownRemote + lastSource,
	}, func(ctx context.Context, p *Project, in *inFetch) (answers.Fetched, error) {
		out, err := p.Repo.Fetch(ctx, either(in.Body, &FetchRequest{}).Session)
		return out, ofRemote(err)
	})
	onProject(s, endpoint{
		id: "get-remote", method: http.MethodGet, path: "/remote", tag: "remote", summary: "How far the remote is behind, and what stores have pushed there",
		description: "It asks the remote. " + knownRemote,
	}, func(ctx context.Context, p *Project, in *struct {
		InProject
		All bool `query:"all" doc:"List every project, not only this one."`
	}) (*answers.Remote, error) {
		out, err := p.Repo.AboutRemote(ctx, in.All)
		return out, ofRemote(err)
	})
	onProject(s, endpoint{
		id: "resume", method: http.MethodPost, path: "/resume", tag: "remote", summary: "Go on with a session, also of another machine",
		description: "The files go to the state of the session's newest checkpoint: an operation, which undo takes back. A fetched session becomes one of this store. " +
			"409 where both stores went on with it since they parted, and while another call that changes files of the project is under way. " + knownRemote + lastSource,
	}, func(ctx context.Context, p *Project, in *inResume) (*cairn.Result, error) {
		b := either(in.Body, &ResumeRequest{})
		id, err := p.Repo.sessionToResume(ctx, p.Sessions, answers.Resuming{Spec: either(b.Session, session.Newest), First: b.Fetch})
		if err != nil {
			return nil, ofRemote(err)
		}
		return p.Repo.resume(ctx, p.Sessions, id, cairn.RestoreOptions{KeepNew: b.KeepNew, DryRun: b.DryRun, Plan: b.Plan})
	})
}

// ofRemote gives an error of a call that speaks with a remote its status.
func ofRemote(err error) error {
	if err == nil {
		return nil
	}
	return Unreachable(err)
}

// Push is cairn.Repo.Push to the remote that the project knows.
func (r *Repo) Push(ctx context.Context) (lines []string, err error) {
	err = r.handle.write(ctx, func(ctx context.Context) error {
		lines, err = r.Repo.Push(ctx, "")
		return err
	})
	return lines, err
}

// Fetch brings lines, or a session, from the remote that the project knows.
func (r *Repo) Fetch(ctx context.Context, spec string) (out answers.Fetched, err error) {
	err = r.handle.write(ctx, func(ctx context.Context) error {
		out, err = answers.Fetch(ctx, r.Repo, "", spec)
		return err
	})
	return out, err
}

// AboutRemote asks the remote that the project knows. It ends when the client hangs up.
func (r *Repo) AboutRemote(ctx context.Context, all bool) (*answers.Remote, error) {
	return answers.AboutRemote(ctx, r.Repo, all)
}

// sessionToResume finds a session. The files of the project can be changed by others meanwhile: a remote
// may be slow.
func (r *Repo) sessionToResume(ctx context.Context, all *Sessions, what answers.Resuming) (id string, err error) {
	err = r.handle.write(ctx, func(ctx context.Context) error {
		id, err = answers.SessionToResume(ctx, r.Repo, all.stored.Sessions, what)
		return err
	})
	return id, err
}

// resume goes on with a session after the tickets of its steps.
func (r *Repo) resume(ctx context.Context, all *Sessions, id string, opt cairn.RestoreOptions) (*cairn.Result, error) {
	return r.goBack(ctx, "restore", opt.DryRun, func(ctx context.Context) (*cairn.Result, error) {
		if err := r.handle.project.gate(ctx, r.handle.book, id); err != nil {
			return nil, err
		}
		return all.stored.Resume(ctx, id, opt)
	})
}
