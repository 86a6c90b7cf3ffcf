package answers

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Remote tells of the remote of calls that name none, and of what stores have pushed there.
type Remote struct {
	Status   cairn.RemoteStatus    `json:"remote"`
	Projects []cairn.RemoteProject `json:"projects"`
}

// AboutRemote asks the remote that a store remembers or that its options name. all means every project
// there. The error is cairn.ErrNoRemote where there is no such remote.
func AboutRemote(ctx context.Context, repo *cairn.Repo, all bool) (*Remote, error) {
	status, err := repo.RemoteStatus(ctx)
	switch {
	case err != nil:
		return nil, err
	case status == nil:
		return nil, cairn.ErrNoRemote
	}
	list, err := repo.ListRemote(ctx, "", all)
	return &Remote{*status, append([]cairn.RemoteProject{}, list...)}, err
}

// Fetched are the lines that a fetch brought.
type Fetched struct {
	Session string      `json:"sessionID,omitempty"` // of a fetch of one session
	Lines   cairn.Paths `json:"lines"`
}

// Fetch brings the lines of other stores from a remote, "" for the one that the store knows, or only
// those of a session where spec is not "".
func Fetch(ctx context.Context, repo *cairn.Repo, remote, spec string) (f Fetched, err error) {
	var lines []string
	if spec == "" {
		lines, err = repo.Fetch(ctx, remote)
	} else {
		f.Session, lines, err = repo.FetchSession(ctx, remote, spec)
	}
	f.Lines = append(cairn.Paths{}, lines...)
	return f, err
}

// Resuming says which session goes on.
type Resuming struct {
	Spec  string // id, a prefix of one, or session.Newest
	First bool   // fetch it although it is here; session.Newest is then the newest of another store

	Remote string              // "" = the one that the store knows
	Fetch  func(remote string) // called before a session is fetched from the known remote; nil = not told

	// With Stale, a session that is here is fetched, too, where a remote is known: another store may have gone on with
	// it. Stale is called with the reason why that failed.
	Stale func(error)
}

// SessionToResume returns the id of the session that goes on. It fetches a session that is not here. A
// session that only this store has is found without the remote.
func SessionToResume(ctx context.Context, repo *cairn.Repo, all *session.Sessions, r Resuming) (id string, err error) {
	if r.First {
		return r.fetchedOrHere(ctx, repo, all)
	}
	id, err = all.Find(ctx, r.Spec)
	if err == nil && r.Stale != nil {
		return id, r.again(ctx, repo, id)
	}
	if !errors.Is(err, cairn.ErrNotFound) {
		return id, err
	}
	absent := err
	if id, err = r.fetch(ctx, repo); errors.Is(err, cairn.ErrNoRemote) {
		err = fmt.Errorf("%w; %w", absent, err)
	}
	return id, err
}

// fetchedOrHere fetches a session. One that is not there may be here; where it is not, the remote's error says more.
func (r *Resuming) fetchedOrHere(ctx context.Context, repo *cairn.Repo, all *session.Sessions) (string, error) {
	id, err := r.fetch(ctx, repo)
	if r.Spec == session.Newest || !errors.Is(err, cairn.ErrNotFound) {
		return id, err
	}
	here, ferr := all.Find(ctx, r.Spec)
	if errors.Is(ferr, cairn.ErrNotFound) {
		return "", err
	}
	return here, ferr
}

// again fetches what other stores have of a session that is here.
func (r *Resuming) again(ctx context.Context, repo *cairn.Repo, id string) error {
	where, err := r.where(repo)
	if err == nil {
		err = access.FetchNewer(ctx, repo, where, id)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !errors.Is(err, cairn.ErrNoRemote) && !errors.Is(err, cairn.ErrNotFound) {
		r.Stale(err)
	}
	return nil
}

func (r *Resuming) fetch(ctx context.Context, repo *cairn.Repo) (string, error) {
	where, err := r.where(repo)
	if err != nil {
		return "", err
	}
	id, _, err := repo.FetchSession(ctx, where, r.Spec)
	return id, err
}

// where is the remote that is asked.
func (r *Resuming) where(repo *cairn.Repo) (string, error) {
	if r.Remote != "" {
		return r.Remote, nil
	}
	where, err := access.Source(repo)
	if err == nil && where == "" {
		err = cairn.ErrNoRemote
	}
	if err == nil && r.Fetch != nil {
		r.Fetch(where)
	}
	return where, err
}
