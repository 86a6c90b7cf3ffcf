package main

import (
	"context"
	"errors"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/client"
)

// byServer does work by the server, if one is running, else by the repository, which is open. A server
// that watches the root knows what has changed and need not look at every file.
func byServer[T any](c *cli, there func(*client.Client) (T, error), here func() (T, error)) (T, error) {
	if s := c.server(*c.last); s != nil {
		if res, err := there(s); !errors.Is(err, client.ErrNoServer) {
			return res, err
		}
	}
	return here()
}

func (c *cli) restore(ctx context.Context, repo *cairn.Repo, spec string, opt cairn.RestoreOptions) (*cairn.Result, error) {
	return byServer(c, func(s *client.Client) (*cairn.Result, error) { return s.Restore(ctx, spec, opt) },
		func() (*cairn.Result, error) { return repo.Restore(ctx, spec, opt) })
}

func (c *cli) revert(ctx context.Context, repo *cairn.Repo, in cairn.Range, opt cairn.RevertOptions) (*cairn.Result, error) {
	return byServer(c, func(s *client.Client) (*cairn.Result, error) { return s.Revert(ctx, in, opt) },
		func() (*cairn.Result, error) { return repo.Revert(ctx, in, opt) })
}

func (c *cli) revertAll(ctx context.Context, repo *cairn.Repo, patches []cairn.Patch, opt cairn.RevertPatchesOptions) (*cairn.Result, error) {
	return byServer(c, func(s *client.Client) (*cairn.Result, error) { return s.RevertPatches(ctx, patches, opt) },
		func() (*cairn.Result, error) { return repo.RevertPatches(ctx, patches, opt) })
}

// patch lists what differs between a checkpoint and another one, or the disk if to is "".
func (c *cli) patch(ctx context.Context, repo *cairn.Repo, from, to string) (cairn.Patch, error) {
	if to != "" {
		return repo.Patch(ctx, from, to)
	}
	return byServer(c, func(s *client.Client) (cairn.Patch, error) { return s.Patch(ctx, from) },
		func() (cairn.Patch, error) { return repo.Patch(ctx, from, "") })
}
