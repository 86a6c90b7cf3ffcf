package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// PathMeant completes the error of a command whose first argument is no checkpoint. Where a path of that
// name is on disk or at the newest checkpoint, the text ends with the command line for the paths, which
// begins with line.
func (c *Program) PathMeant(ctx context.Context, repo *cairn.Repo, err error, line string, args ...string) error {
	if !errors.Is(err, cairn.ErrNotFound) {
		return err
	}
	if _, known := repo.Lookup(ctx, args[0]); !errors.Is(known, cairn.ErrNotFound) || !c.isPath(ctx, repo, args[0]) {
		return err
	}
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = wording.ShellWord(arg)
	}
	return fmt.Errorf("%w; for the path %s write: %s %s", err, words[0], line, strings.Join(words, " "))
}

// isPath reports whether an argument names something on disk or at the newest checkpoint.
func (c *Program) isPath(ctx context.Context, repo *cairn.Repo, arg string) bool {
	paths, err := c.Paths([]string{arg})
	if err != nil {
		return false
	}
	if _, err := os.Lstat(paths[0]); err == nil {
		return true
	}
	rel, err := filepath.Rel(repo.Root(), paths[0])
	if err != nil {
		return false
	}
	there, err := repo.Exists(ctx, "@", filepath.ToSlash(rel))
	return err == nil && there
}
