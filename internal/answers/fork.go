package answers

import (
	"context"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Fork is cairn.Repo.Fork. A fork of a session has what its sub-agents have done after it, too.
func Fork(ctx context.Context, repo *cairn.Repo, dir string, opt cairn.ForkOptions) (*cairn.ForkResult, error) {
	if opt.Session != "" {
		var err error
		if opt.State, err = session.New(repo).NewestState(ctx, opt.Session); err != nil {
			return nil, err
		}
	}
	return repo.Fork(ctx, dir, opt)
}
