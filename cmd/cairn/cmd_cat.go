package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
)

const catManual = `cairn cat prints a file as it was at a checkpoint.

Usage:
    cairn cat HASH PATH

The bytes are exactly those that lay on disk; of a symlink, its text. There is
no --json form.

Examples:
    cairn cat @ main.go
    cairn cat @~1 logo.png > old-logo.png
`

func (c *cli) catCommand() *cobra.Command {
	return c.command(command{
		use: "cat HASH PATH", short: "print a file of a checkpoint", manual: catManual,
		args: argCount(2, 2, "a HASH and a PATH"), complete: c.completeHashThenTree,
		run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			if c.global.json {
				return c.usage("has no --json form: it prints the bytes of the file")
			}
			paths, err := c.paths(args[1:])
			if err != nil {
				return err
			}
			return c.withRepo(func(repo *cairn.Repo) error {
				return c.cat(ctx, repo, args[0], paths[0])
			})
		},
	})
}

func (c *cli) cat(ctx context.Context, repo *cairn.Repo, spec, path string) error {
	size, file, err := repo.OpenFile(ctx, spec, path)
	if err != nil {
		return err
	}
	defer file.Close()
	n, err := io.Copy(c.out, &stoppable{ctx, file})
	if err == nil && n != size {
		err = fmt.Errorf("%w: %s has %d bytes, not %d", cairn.ErrCorrupt, path, n, size)
	}
	return err
}

// stoppable is a reader that ends with a context.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s *stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}
