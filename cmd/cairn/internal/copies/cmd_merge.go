package copies

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/goback"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const mergeManual = `cairn merge brings what changed in another directory into this one.

Usage:
    cairn merge DIR|HASH [PATH...] [--base HASH] [--dry-run | --plan ID]
    cairn merge DIR|HASH [PATH...] --hunk ID... | -p

DIR is another directory with checkpoints: a fork, a copy, a second work tree.
Its present state is captured first. HASH is a checkpoint of this directory, for
instance of an attempt that a restore has given up. PATH narrows the merge down
to some paths and everything below them; paths are those of this directory.

A merge compares three states: both sides as they are, and the newest state that
they have in common. That is a checkpoint that both stores hold, one that an
earlier merge has brought, or else two checkpoints with equal files. --base
names another one; without any the merge is refused.

A path that was changed only there becomes as it is there; one that was changed
only here stays. Where both changed a file, the changes are brought together
line by line. Where they overlap, where one side deleted what the other changed,
or where it is no text, the path stays as it is here and is a conflict. A file
that was moved on one side takes the changes of the other side along. Permission
bits, symlinks and empty directories come, too.

With --hunk only some places of files come in. cairn compare --hunk-ids shows
the names of the hunks; the beginning of a name is enough. -p shows hunk after
hunk and asks.

DIR itself is only read, but for its own checkpoint. What is overwritten or
deleted here is saved first, and cairn undo takes the merge back. If the process
is killed, the next cairn command finishes the merge.

Options:
    --hunk ID[,ID...]  only these hunks; may be repeated
    -p, --patch        show each hunk and ask whether it comes in
    --base HASH        the state that both sides come from: a checkpoint of this
                       directory or of DIR
    --dry-run          only list what would be done, and give the plan an id
    --plan ID          carry out the plan of a dry run with the same arguments,
                       or nothing if it would be another one now

The answer and the exit status are those of cairn restore, and with --json also
"base", the checkpoint in common. The status is 4 if a PATH is on neither side.

Examples:
    cairn compare ../try-1 ../try-2
    cairn merge ../try-2 --dry-run
    cairn merge ../try-1 src/parser
    cairn merge ../try-2 --hunk 1f2e3d4c
`

type mergeFlags struct {
	hunks []string
	ask   bool
	base  string
	plan  goback.PlanFlags
}

func (c *commands) mergeCommand() *cobra.Command {
	var f mergeFlags
	cmd := c.Command(cli.Command{
		Use: "merge DIR|HASH [PATH...]", Short: "bring in what changed in another directory", Manual: mergeManual,
		Args: cli.ArgCount(1, -1, "a directory or a HASH, and perhaps paths"), Complete: c.CompleteSourceThenFiles,
		Run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if err := f.check(c, cmd); err != nil {
				return err
			}
			opt := cairn.MergeOptions{Hunks: f.hunks, Base: f.base, DryRun: f.plan.DryRun, Plan: f.plan.ID}
			var err error
			if opt.Paths, err = c.Paths(args[1:]); err != nil {
				return err
			}
			return c.withSources(ctx, args[:1], func(repo *cairn.Repo, sources []cairn.MergeSource) error {
				return c.merge(ctx, cmd, repo, sources[0], opt, f.ask)
			})
		},
	})
	cmd.Flags().StringSliceVar(&f.hunks, goback.HunkFlag, nil, "bring in these hunks only")
	cmd.Flags().BoolVarP(&f.ask, goback.AskFlag, "p", false, "ask hunk by hunk")
	cli.CompleteFlag(cmd, goback.HunkFlag)
	c.registerBase(cmd, &f.base)
	f.plan.Register(cmd)
	return cmd
}

func (f *mergeFlags) check(c *commands, cmd *cobra.Command) error {
	if f.ask && (len(f.hunks) > 0 || f.plan.ID != "" || c.Global.JSON) {
		return c.Usage("asks with -p alone, without --hunk, --plan and --json")
	}
	return f.plan.Check(c.Dialog, cmd)
}

const baseFlag = "base"

func (c *commands) registerBase(cmd *cobra.Command, base *string) {
	cmd.Flags().StringVar(base, baseFlag, "", "the state that both sides come from")
	err := cmd.RegisterFlagCompletionFunc(baseFlag, func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return c.OfferCheckpoints(cmd.Context(), typed)
	})
	if err != nil {
		panic("internal error: " + err.Error())
	}
}

func (c *commands) merge(
	ctx context.Context, cmd *cobra.Command, repo *cairn.Repo, from cairn.MergeSource,
	opt cairn.MergeOptions, ask bool,
) error {
	if ask {
		ids, err := c.askMerge(ctx, repo, from, opt)
		if err != nil || !c.NoteChosen(cmd, ids, "merge") {
			return err
		}
		opt.Hunks = ids
	}
	res, err := repo.Merge(ctx, from, opt)
	if err != nil {
		return err
	}
	nothing := "everything that changed there since " + res.Base[:cli.ShortID] + " is here"
	if len(opt.Paths) > 0 { // other paths may have changed
		nothing = "in these paths nothing changed there since " + res.Base[:cli.ShortID] + " that is not here"
	}
	return c.PrintResult(cmd, res, "nothing to merge: "+nothing)
}

// askMerge shows the hunks of a source and returns the names of the chosen ones.
func (c *commands) askMerge(ctx context.Context, repo *cairn.Repo, from cairn.MergeSource, opt cairn.MergeOptions) ([]string, error) {
	all, err := repo.Compare(ctx, []cairn.MergeSource{from}, cairn.CompareOptions{Paths: opt.Paths, Base: opt.Base, Hunks: true})
	if err != nil {
		return nil, err
	}
	return c.AskHunks(ctx, "bring in", hunkedFiles(all.Sources[0].Files))
}

func hunkedFiles(files []cairn.ComparedFile) iter.Seq2[cairn.FileDiff, error] {
	return func(yield func(cairn.FileDiff, error) bool) {
		for i := range files {
			if f := &files[i]; !yield(cairn.FileDiff{File: f.File, Hunks: f.Hunks}, nil) {
				return
			}
		}
	}
}

// withSources opens the repository and the sources that arguments name, for f.
func (c *commands) withSources(ctx context.Context, args []string, f func(*cairn.Repo, []cairn.MergeSource) error) error {
	return c.WithRepo(func(repo *cairn.Repo) (err error) {
		sources := make([]cairn.MergeSource, len(args))
		for i, arg := range args {
			if sources[i], err = c.source(ctx, repo, arg); err != nil {
				return err
			}
			if other := sources[i].Repo; other != nil {
				defer func() { err = errors.Join(err, other.Close()) }()
			}
		}
		return f(repo, sources)
	})
}

// source is the directory or checkpoint that an argument names. A word that could be both is
// refused.
func (c *commands) source(ctx context.Context, repo *cairn.Repo, arg string) (cairn.MergeSource, error) {
	paths, err := c.Paths([]string{arg})
	if err != nil {
		return cairn.MergeSource{}, err
	}
	info, err := os.Stat(paths[0])
	isDir := err == nil && info.IsDir()
	if isDir && (filepath.Base(arg) != arg || arg == "." || arg == "..") {
		return c.OtherDir(paths[0])
	}
	_, err = repo.Lookup(ctx, arg)
	switch {
	case isDir && err == nil:
		return cairn.MergeSource{}, c.Usage("cannot tell whether %s is the checkpoint or the directory: ./%[1]s is the directory", wording.ShellWord(arg))
	case isDir:
		return c.OtherDir(paths[0])
	}
	return cairn.MergeSource{Checkpoint: arg}, err
}
