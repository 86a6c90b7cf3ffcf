package look

import (
	"context"
	"errors"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/session"
)

const blameManual = `cairn blame tells who wrote each line of a file, and for which prompt.

Usage:
    cairn blame [HASH] PATH[:LINE] [-L RANGE]... [-w] [--deleted]

Each line has the checkpoint that brought it, the agent or the user, the first
tool of the step, the prompt, the time and its number. The file is the one on
disk, unless there is a HASH. A line that no checkpoint has yet has an id of
zeros. A line that was there at the oldest checkpoint, or after one at which the
file had more than 16 MiB, has a ^, because its author may be another one.

A change belongs to the step that was running when it appeared, else to the
user. A line that a restore, revert or undo brings back keeps its author, and so
does every line if the whole file is again as it was earlier. Renames are
followed.

Options:
    -L, --lines RANGE       only these lines: START,END with numbers, /REGEXP/
                            or, for END, +COUNT or -COUNT; either may be left
                            out, and the option may be given several times
    -w, --ignore-all-space  a line stays the same if only blanks in it change
    --deleted               also lines that are no longer there, where they
                            stood, with who deleted them; the file may be gone
    -s, --short             without author, tool, prompt and time
    -l, --long              ids in full
    -p, --porcelain         as git blame --porcelain prints it, for programs
    --line-porcelain        the same with everything for each line

With --json the answer is {"path", "changes", "lines"}, with a HASH also
"checkpoint". Each line is {"line", "number", "change", "text"}: its number, its
number where it appeared, and the place in changes. A change is {"author",
"path", "time", "checkpoint", "before", "oldPath", "work"}: agent, user or the
kind of an operation; the first checkpoint with it, the last without it and the
path of the file there, if it was there; work as in cairn log --json. It has
"others" if steps of other sessions ran at the same time and no tool named the
file, "operation" if an operation made it, and "boundary" if it was there at the
oldest checkpoint. With --deleted there is "deletedLines", lines with
"deletedBy", a place in changes.

The status is 4 if there is no such file or checkpoint.

Examples:
    cairn blame main.go -L 10,20
    cairn blame main.go:42
    cairn blame @~3 main.go -L '/^func main/,+5' --deleted
`

type blameFlags struct {
	ranges                   []string
	ignoreSpace, deleted     bool
	short, long              bool
	porcelain, linePorcelain bool
}

func (c *commands) blameCommand() *cobra.Command {
	var f blameFlags
	cmd := c.Command(cli.Command{
		Use: "blame [HASH] PATH", Short: "tell who wrote each line of a file", Manual: blameManual,
		Args: cli.ArgCount(1, 2, "a PATH, or a HASH and a PATH"), Complete: c.completeBlame,
		Run: func(ctx context.Context, _ *cobra.Command, args []string) error { return c.blame(ctx, &f, args) },
	})
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.ranges, "lines", "L", nil, "only these lines")
	flags.BoolVarP(&f.ignoreSpace, "ignore-all-space", "w", false, "ignore changes of blanks")
	flags.BoolVar(&f.deleted, "deleted", false, "also show deleted lines")
	flags.BoolVarP(&f.short, "short", "s", false, "without author, tool, prompt and time")
	flags.BoolVarP(&f.long, "long", "l", false, "ids in full")
	flags.BoolVarP(&f.porcelain, "porcelain", "p", false, "as git prints it for programs")
	flags.BoolVar(&f.linePorcelain, "line-porcelain", false, "the same with everything for each line")
	return cmd
}

// completeBlame completes files, or a checkpoint and a file of it.
func (c *commands) completeBlame(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return cli.CompleteFiles(cmd, args, typed)
	}
	return c.CompleteHashThenTree(cmd, args, typed)
}

func (f *blameFlags) check(c *commands) error {
	machine := f.porcelain || f.linePorcelain
	switch {
	case machine && c.Global.JSON:
		return c.Usage("gives either --porcelain or --json")
	case machine && f.deleted:
		return c.Usage("gives --deleted without --porcelain: git has no form for it")
	}
	return nil
}

func (c *commands) blame(ctx context.Context, f *blameFlags, args []string) error {
	if err := f.check(c); err != nil {
		return err
	}
	opt := cairn.BlameOptions{Deleted: f.deleted, IgnoreSpace: f.ignoreSpace}
	if len(args) == 2 {
		if args[0] == "" { // it would mean the disk
			return c.Usage("got an empty HASH")
		}
		opt.At = args[0]
	}
	name := args[len(args)-1]
	return c.WithRepo(func(repo *cairn.Repo) error {
		b, ranges, err := c.blameOf(ctx, repo, name, f.ranges, opt)
		if err != nil {
			return err
		}
		if err := c.cutBlame(b, ranges); err != nil {
			return err
		}
		switch {
		case c.Global.JSON:
			return c.WriteJSON(b)
		case f.porcelain || f.linePorcelain:
			return c.writePorcelain(ctx, repo, b, f.linePorcelain)
		}
		return c.writeBlame(b, f)
	})
}

// blameOf blames PATH, or the line of PATH:LINE where no file has that name.
func (c *commands) blameOf(
	ctx context.Context, repo *cairn.Repo, name string, ranges []string, opt cairn.BlameOptions,
) (*session.Blame, []string, error) {
	paths, err := c.Paths([]string{name})
	if err != nil {
		return nil, nil, err
	}
	sessions := session.New(repo)
	b, err := sessions.Blame(ctx, paths[0], opt)
	if !errors.Is(err, cairn.ErrNotFound) {
		return b, ranges, err
	}
	parts := regexp.MustCompile(`^(.+):([0-9]+)$`).FindStringSubmatch(name)
	if parts == nil {
		return nil, nil, err
	}
	if paths, err = c.Paths(parts[1:2]); err != nil {
		return nil, nil, err
	}
	b, err = sessions.Blame(ctx, paths[0], opt)
	return b, append(ranges, parts[2]+","+parts[2]), err
}
