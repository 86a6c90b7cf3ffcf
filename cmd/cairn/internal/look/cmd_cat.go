package look

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
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

func (c *commands) catCommand() *cobra.Command {
	return c.Command(cli.Command{
		Use: "cat HASH PATH", Short: "print a file of a checkpoint", Manual: catManual,
		Args: cli.ArgCount(2, 2, "a HASH and a PATH"), Complete: c.CompleteHashThenTree,
		Run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			if c.Global.JSON {
				return c.Usage("has no --json form: it prints the bytes of the file")
			}
			paths, err := c.Paths(args[1:])
			if err != nil {
				return err
			}
			return c.WithRepo(func(repo *cairn.Repo) error {
				return c.cat(ctx, repo, args[0], paths[0])
			})
		},
	})
}

func (c *commands) cat(ctx context.Context, repo *cairn.Repo, spec, path string) error {
	size, file, err := repo.OpenFile(ctx, spec, path)
	if err != nil {
		return err
	}
	defer file.Close()
	n, err := io.Copy(c.Out, &stoppable{ctx, file})
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
