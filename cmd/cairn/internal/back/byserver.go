package back

import (
	"context"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/client"
	"github.com/seed-fb9cbc17/cairn/session"
)

func (c *commands) restore(ctx context.Context, repo *cairn.Repo, spec string, opt cairn.RestoreOptions) (*cairn.Result, error) {
	return c.GoBack(ctx, repo, cli.Way{
		There: func(s *client.Client) (*cairn.Result, error) { return s.Restore(ctx, spec, opt) },
		Here:  func() (*cairn.Result, error) { return repo.Restore(ctx, spec, opt) },
	})
}

func (c *commands) revert(ctx context.Context, repo *cairn.Repo, in cairn.Range, opt cairn.RevertOptions) (*cairn.Result, error) {
	return c.GoBack(ctx, repo, cli.Way{
		There: func(s *client.Client) (*cairn.Result, error) { return s.Revert(ctx, in, opt) },
		Here:  func() (*cairn.Result, error) { return repo.Revert(ctx, in, opt) },
	})
}

func (c *commands) revertAll(
	ctx context.Context, repo *cairn.Repo, patches []cairn.Patch, opt cairn.RevertPatchesOptions,
) (*cairn.Result, error) {
	return c.GoBack(ctx, repo, cli.Way{
		There: func(s *client.Client) (*cairn.Result, error) { return s.RevertPatches(ctx, patches, opt) },
		Here:  func() (*cairn.Result, error) { return repo.RevertPatches(ctx, patches, opt) },
	})
}

// ways are the lastdone.Ways of the command: the server's, if one is running, else those of the store.
type ways struct {
	*commands
	repo     *cairn.Repo
	sessions *session.Sessions
}

func (w ways) Undo(ctx context.Context, opt cairn.RevertOptions) (*cairn.Result, error) {
	return w.GoBack(ctx, w.repo, cli.Way{
		There: func(s *client.Client) (*cairn.Result, error) { return s.Undo(ctx, opt) },
		Here:  func() (*cairn.Result, error) { return w.repo.Undo(ctx, opt) },
		Once:  true,
	})
}

func (w ways) Redo(ctx context.Context, opt cairn.RevertOptions) (*cairn.Result, error) {
	return w.GoBack(ctx, w.repo, cli.Way{
		There: func(s *client.Client) (*cairn.Result, error) { return s.Redo(ctx, opt) },
		Here:  func() (*cairn.Result, error) { return w.repo.Redo(ctx, opt) },
		Once:  true,
	})
}

func (w ways) RevertSession(
	ctx context.Context, id string, to session.Target, opt session.MoveOptions,
) (s *session.Session, res *cairn.Result, err error) {
	return w.move(ctx, id, func(c *client.Client) (*session.Session, *cairn.Result, error) {
		return c.RevertSession(ctx, id, to, opt)
	},
		func() (*session.Session, *cairn.Result, error) { return w.sessions.Revert(ctx, id, to, opt) })
}

func (w ways) UnrevertSession(ctx context.Context, id string, opt session.MoveOptions) (*session.Session, *cairn.Result, error) {
	return w.move(ctx, id, func(c *client.Client) (*session.Session, *cairn.Result, error) {
		return c.UnrevertSession(ctx, id, opt)
	},
		func() (*session.Session, *cairn.Result, error) { return w.sessions.Unrevert(ctx, id, opt) })
}

// move moves the boundary of a session. A second move to the same place does nothing. The session is read
// again where the result is from a record.
func (w ways) move(
	ctx context.Context, id string,
	there func(*client.Client) (*session.Session, *cairn.Result, error),
	here func() (*session.Session, *cairn.Result, error),
) (s *session.Session, res *cairn.Result, err error) {
	res, err = w.GoBack(ctx, w.repo, cli.Way{
		There: func(c *client.Client) (res *cairn.Result, err error) { s, res, err = there(c); return res, err },
		Here:  func() (res *cairn.Result, err error) { s, res, err = here(); return res, err },
	})
	if err == nil && (s == nil || s.ID != id) {
		s, err = w.sessions.Get(ctx, id)
	}
	return s, res, err
}
