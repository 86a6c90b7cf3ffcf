package back

import (
	"context"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/client"
)

func (c *commands) restore(ctx context.Context, repo *cairn.Repo, spec string, opt cairn.RestoreOptions) (*cairn.Result, error) {
	return cli.ByServer(c.Program, func(s *client.Client) (*cairn.Result, error) { return s.Restore(ctx, spec, opt) },
		func() (*cairn.Result, error) { return repo.Restore(ctx, spec, opt) })
}

func (c *commands) revert(ctx context.Context, repo *cairn.Repo, in cairn.Range, opt cairn.RevertOptions) (*cairn.Result, error) {
	return cli.ByServer(c.Program, func(s *client.Client) (*cairn.Result, error) { return s.Revert(ctx, in, opt) },
		func() (*cairn.Result, error) { return repo.Revert(ctx, in, opt) })
}

func (c *commands) revertAll(ctx context.Context, repo *cairn.Repo, patches []cairn.Patch, opt cairn.RevertPatchesOptions) (*cairn.Result, error) {
	return cli.ByServer(c.Program, func(s *client.Client) (*cairn.Result, error) { return s.RevertPatches(ctx, patches, opt) },
		func() (*cairn.Result, error) { return repo.RevertPatches(ctx, patches, opt) })
}
