package look

import (
	"cmp"
	"context"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/client"
	"github.com/seed-fb9cbc17/cairn/internal/diffstat"
)

const diffManual = `cairn diff shows what changed, as git prints it.

Usage:
    cairn diff [FROM [TO] | FROM..TO] [--stat | --name-status] [-U N] [-w]
               [-M] [--word-diff[=MODE] | --color-words] [-- PATH...]

FROM is the newest checkpoint unless given; TO is the disk as it is now.
FROM..TO is the same as FROM TO. A rename is a deletion and an addition, unless
-M is given. Binary files are only said to differ, and so are files above 16
MiB. Changes of a directory's permission bits, and of bits that git does not
know, are listed by --name-status and have no text.
The status is 4 for a PATH that is neither at FROM, nor at TO, nor on disk.

Options:
    --stat           how many lines were added and deleted, file by file
    --name-status    A (added), M (modified), D (deleted) or T (became or was a
                     symlink), and the path
    -z, --null       with --name-status: status and raw path, a NUL after each
    --hunk-ids       every run of changed lines as a hunk of its own; its name,
                     for cairn revert --hunk, is behind a # in its header
    -U, --unified N  lines of context around a change (default 3)
    -w, --ignore-all-space
                     lines that differ in blanks only are equal, as in git
    -M, --find-renames
                     a deletion and an addition with half of the bytes in common
                     are a rename, as in git: R and a percentage
    --word-diff MODE changed words and not lines: plain, as in [-old-]{+new+},
                     which is meant without =MODE; color; porcelain; none
    --color-words    the same as --word-diff=color

With --json the answer is an array of {"file", "before", "after", "additions",
"deletions", "status", "patch", "hunks"}, one element per file, printed as it is
made. Hunks are {"id", "header", "oldStart", "oldLines", "newStart", "newLines",
"lines"}, and have "whole" where a change goes back as a whole or not at all.
With -w, which the patch and the counts follow, they are still those of the text
as it is: cairn revert takes them back with their blanks.
Status is added, modified or deleted. Where a file is not compared by lines,
"note" is binary or too large, the texts are empty and the counts 0. With --stat
the texts are left out; with --name-status the elements are {"path", "status",
"oldMode", "newMode"}, with -M also "oldPath" and "similarity" of a rename.
Texts that are not UTF-8 have U+FFFD for each wrong byte; cairn cat gives the
bytes.

Examples:
    cairn diff
    cairn diff @~1..@ --stat
    cairn diff -- src docs/guide.md
`

// diffGCPercent suits a command with much garbage and little live memory.
const diffGCPercent = 300

type diffFlags struct {
	textFlags
	stat, nameStatus, null bool
	hunkIDs                bool
}

func (c *commands) diffCommand() *cobra.Command {
	var f diffFlags
	cmd := c.Command(cli.Command{
		Use: "diff [FROM [TO]] [-- PATH...]", Short: "show what changed", Manual: diffManual,
		Complete: c.CompleteDiff,
		Run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			specs, paths := args, []string(nil)
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				specs, paths = args[:n], args[n:]
			}
			return c.diff(ctx, &f, specs, paths)
		},
	})
	cmd.Flags().BoolVar(&f.stat, "stat", false, "count lines, file by file")
	cmd.Flags().BoolVar(&f.nameStatus, "name-status", false, "list statuses and paths")
	cmd.Flags().BoolVarP(&f.null, "null", "z", false, "raw paths with a NUL after each")
	cmd.Flags().BoolVar(&f.hunkIDs, "hunk-ids", false, "name the hunks")
	f.register(cmd)
	return cmd
}

func (f *diffFlags) check(c *commands, specs []string) error {
	switch {
	case len(specs) > 2:
		return c.Usage("takes at most FROM and TO; paths go after --")
	case f.stat && f.nameStatus:
		return c.Usage("gives either --stat or --name-status")
	case f.null && (!f.nameStatus || c.Global.JSON):
		return c.Usage("gives -z with --name-status only, and not with --json")
	case f.hunkIDs && (f.stat || f.nameStatus || f.renames || f.ignoreSpace || f.colorWords || f.wordDiff != "" || f.context != 3):
		return c.Usage("gives --hunk-ids with three lines of context, and with no other option about the text")
	case f.renames && c.Global.JSON && !f.nameStatus:
		return c.Usage("gives -M with --json only for --name-status")
	}
	return nil
}

// cutSpecs cuts FROM..TO in two. Either may be left out: the newest checkpoint, and the disk.
func cutSpecs(specs []string) []string {
	if len(specs) != 1 {
		return specs
	}
	from, to, ok := strings.Cut(specs[0], "..")
	switch {
	case !ok || from == "" && to == "":
		return specs
	case to == "":
		return []string{from}
	}
	return []string{cmp.Or(from, "@"), to}
}

func (c *commands) diff(ctx context.Context, f *diffFlags, specs, args []string) error {
	specs = cutSpecs(specs)
	if err := f.check(c, specs); err != nil {
		return err
	}
	paths, err := c.Paths(args)
	if err != nil {
		return err
	}
	opt, err := f.options(c)
	if err != nil {
		return err
	}
	if opt.Words != cairn.NoWords && (c.Global.JSON || f.stat || f.nameStatus) {
		return c.Usage("shows words in text only: not with --json, --stat or --name-status")
	}
	opt.Hunks = f.hunkIDs || c.Global.JSON && !f.stat && !f.nameStatus
	from, to := "@", ""
	if len(specs) > 0 {
		from = specs[0]
	}
	if len(specs) > 1 {
		to = specs[1]
	}
	return c.WithRepo(func(repo *cairn.Repo) error {
		if err := c.checkSpecs(ctx, repo, specs); err != nil {
			return err
		}
		if err := repo.CheckPaths(ctx, paths, from, to); err != nil {
			return err
		}
		return c.printDiff(ctx, repo, f, from, to, opt, paths)
	})
}

// checkSpecs looks up FROM and TO, so that a path in their place gets a helpful error.
// An empty TO is an error, too: it would mean the disk.
func (c *commands) checkSpecs(ctx context.Context, repo *cairn.Repo, specs []string) error {
	for _, spec := range specs {
		if _, err := repo.Lookup(ctx, spec); err != nil {
			return c.PathMeant(ctx, repo, err, "cairn diff --", spec)
		}
	}
	return nil
}

func (c *commands) printDiff(
	ctx context.Context, repo *cairn.Repo, f *diffFlags, from, to string, opt cairn.DiffOptions,
	paths []string,
) error {
	changes, err := c.changes(ctx, repo, from, to, paths)
	if err != nil {
		return err
	}
	switch {
	case f.stat:
		stats, err := diffstat.Of(ctx, repo, changes, opt)
		if err != nil {
			return err
		}
		return c.printStats(stats)
	case f.nameStatus && f.renames:
		list, err := repo.Renames(ctx, changes)
		if err != nil {
			return err
		}
		return c.printRenamed(list, f.null)
	case f.nameStatus:
		return c.printNameStatus(changes, f.null)
	case c.Global.JSON:
		return c.printFileDiffs(ctx, repo, changes, opt)
	}
	return repo.WriteDiff(ctx, c.Out, changes, opt)
}

// changes lists what differs between a checkpoint and another one, or the disk if to is "". The store
// holds the contents of the disk afterwards, also where a server has looked.
func (c *commands) changes(ctx context.Context, repo *cairn.Repo, from, to string, paths []string) ([]cairn.Change, error) {
	here := func() ([]cairn.Change, error) { return repo.Changes(ctx, from, to, paths...) }
	if to != "" {
		return here()
	}
	return cli.ByServer(c.Program, func(s *client.Client) ([]cairn.Change, error) { return s.Changes(ctx, from, paths) }, here)
}

func (c *commands) printFileDiffs(ctx context.Context, repo *cairn.Repo, changes []cairn.Change, opt cairn.DiffOptions) error {
	// Each file's garbage is large, and live memory stays small for any number of files:
	// 1,000 files take 60 MB instead of 100, at no cost in time.
	debug.SetGCPercent(diffGCPercent)
	array := c.NewArray()
	for d, err := range repo.FileDiffs(ctx, changes, opt) {
		if err == nil {
			err = array.Add(d)
		}
		if err != nil {
			return err
		}
	}
	return array.Close()
}

func (c *commands) printNameStatus(changes []cairn.Change, null bool) error {
	if c.Global.JSON {
		array := c.NewArray()
		for _, change := range changes {
			if err := array.Add(change); err != nil {
				return err
			}
		}
		return array.Close()
	}
	separator := byte('\t')
	if null {
		separator = 0
	}
	for i := range changes {
		c.Out.WriteString(changes[i].Letter())
		c.Out.WriteByte(separator)
		if err := c.WritePath(changes[i].Path, null); err != nil {
			return err
		}
	}
	return nil
}

// writeStats prints the table of diff --stat for people.
func (c *commands) writeStats(stats []diffstat.File) error {
	return diffstat.Write(c.Out, stats, c.Columns, diffstat.Style{Colored: bool(c.Palette()), Name: c.PathLink})
}

func (c *commands) printStats(stats []diffstat.File) error {
	if !c.Global.JSON {
		return c.writeStats(stats)
	}
	array := c.NewArray()
	for _, s := range stats {
		if err := array.Add(s); err != nil {
			return err
		}
	}
	return array.Close()
}
