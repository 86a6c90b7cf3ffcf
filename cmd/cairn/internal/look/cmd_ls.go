package look

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
)

const lsManual = `cairn ls lists the files of a checkpoint.

Usage:
    cairn ls HASH [PATH] [-l] [-z]

All files and symlinks below PATH are listed, in the order of the bytes of their
names, with paths that count from the root. Directories are not listed, empty
ones included.

Options:
    -l, --long  also the mode (kind and permission bits) and the size in bytes
    -z, --null  raw paths with a NUL after each

With --json the answer is an array of {"path", "mode", "perm", "id", "size"}:
git's mode, the permission bits and the id of the blob.

Examples:
    cairn ls @
    cairn ls -l @~1 src
`

func (c *commands) lsCommand() *cobra.Command {
	var long, null bool
	cmd := c.Command(cli.Command{
		Use: "ls HASH [PATH]", Short: "list the files of a checkpoint", Manual: lsManual,
		Args: cli.ArgCount(1, 2, "a HASH and perhaps a PATH"), Complete: c.CompleteHashThenTree,
		Run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			if c.Global.JSON && (null || long) {
				return c.Usage("gives either --json, which says all, or -l and -z")
			}
			paths, err := c.Paths(args[1:])
			if err != nil {
				return err
			}
			return c.WithRepo(func(repo *cairn.Repo) error {
				return c.list(ctx, repo, args[0], append(paths, "")[0], long, null)
			})
		},
	})
	cmd.Flags().BoolVarP(&long, "long", "l", false, "also mode and size")
	cmd.Flags().BoolVarP(&null, "null", "z", false, "raw paths with a NUL after each")
	return cmd
}

func (c *commands) list(ctx context.Context, repo *cairn.Repo, spec, path string, long, null bool) error {
	array := c.NewArray()
	for e, err := range repo.List(ctx, spec, path) {
		switch {
		case err != nil:
		case c.Global.JSON:
			err = array.Add(e)
		default:
			if long {
				fmt.Fprintf(c.Out, "%06o %10d ", fullMode(e), e.Size)
			}
			err = c.WritePath(e.Path, null)
		}
		if err != nil {
			return err
		}
	}
	if c.Global.JSON {
		return array.Close()
	}
	return nil
}

// fullMode is the mode as stat(2) has it: git's kind of entry and all permission bits.
// The permission bits of symlinks have no meaning.
func fullMode(e cairn.TreeEntry) uint32 {
	const kind = 0o170000
	return e.Mode&kind | uint32(e.Perm)
}
