package look

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/diffstat"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// textFlags are the flags about the text of a difference. The commands diff, show and log have them.
type textFlags struct {
	context              int
	wordDiff             string
	colorWords           bool
	ignoreSpace, renames bool
}

func (f *textFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.wordDiff, "word-diff", "", "changed words")
	flags.Lookup("word-diff").NoOptDefVal = string(cairn.PlainWords)
	cli.CompleteFlag(cmd, "word-diff", "plain", "color", "porcelain", "none")
	flags.BoolVar(&f.colorWords, "color-words", false, "changed words in colours")
	flags.IntVarP(&f.context, "unified", "U", 3, "lines of context")
	flags.BoolVarP(&f.renames, "find-renames", "M", false, "show renames")
	flags.BoolVarP(&f.ignoreSpace, "ignore-all-space", "w", false, "ignore changes of blanks")
}

// words reads --word-diff and --color-words.
func (f *textFlags) words(c *commands) (cairn.Words, error) {
	words := cairn.Words(f.wordDiff)
	switch {
	case f.colorWords && f.wordDiff != "":
		return "", c.Usage("gives either --word-diff or --color-words")
	case f.colorWords:
		return cairn.ColorWords, nil
	case f.wordDiff == "none":
		return cairn.NoWords, nil
	case !slices.Contains([]cairn.Words{cairn.NoWords, cairn.PlainWords, cairn.ColorWords, cairn.PorcelainWords}, words):
		return "", c.Usage("cannot show words as %s: want plain, color, porcelain or none", wording.ShellWord(f.wordDiff))
	}
	return words, nil
}

// options returns the options of a difference.
func (f *textFlags) options(c *commands) (opt cairn.DiffOptions, err error) {
	if f.context < 0 {
		return opt, c.Usage("cannot print %d lines of context", f.context)
	}
	opt = cairn.DiffOptions{
		Color: bool(c.Palette()), Visible: c.Visible(), Context: f.context, IgnoreSpace: f.ignoreSpace,
		Renames: f.renames,
	}
	if f.context == 0 {
		opt.Context = cairn.NoContext
	}
	opt.Words, err = f.words(c)
	return opt, err
}

// patchFlags are textFlags of a command that tells of changes and can print their text.
type patchFlags struct {
	textFlags
	stat, patch bool
}

func (f *patchFlags) register(cmd *cobra.Command) {
	f.textFlags.register(cmd)
	cmd.Flags().BoolVar(&f.stat, "stat", false, "count lines, file by file")
	cmd.Flags().BoolVarP(&f.patch, "patch", "p", false, "the difference")
}

// options returns the options of the text, which JSON has in one form only. Options that only a text has ask for it.
func (f *patchFlags) options(c *commands, cmd *cobra.Command) (opt cairn.DiffOptions, err error) {
	if opt, err = f.textFlags.options(c); err == nil && c.Global.JSON && (opt.Words != cairn.NoWords || opt.Renames) {
		return opt, c.Usage("shows words and renames in text only: not with --json")
	}
	f.patch = f.patch || opt.Words != cairn.NoWords || cmd.Flags().Changed("unified")
	return opt, err
}

// writePatch prints what the flags ask for of some changes: the table, the text, or both with an
// empty line between them, as git does.
func (c *commands) writePatch(ctx context.Context, repo *cairn.Repo, f *patchFlags, changes []cairn.Change, opt cairn.DiffOptions) error {
	if f.stat {
		stats, err := diffstat.Of(ctx, repo, changes, opt)
		if err != nil {
			return err
		}
		if err := c.writeStats(stats); err != nil {
			return err
		}
		if f.patch && len(stats) > 0 {
			c.Out.WriteByte('\n')
		}
	}
	if !f.patch {
		return nil
	}
	return repo.WriteDiff(ctx, c.Out, changes, opt)
}

// diffsOf collects the differences of some changes for JSON, which has the hunks.
func diffsOf(ctx context.Context, repo *cairn.Repo, changes []cairn.Change, opt cairn.DiffOptions) ([]cairn.FileDiff, error) {
	opt.Hunks = true
	diffs := []cairn.FileDiff{}
	for d, err := range repo.FileDiffs(ctx, changes, opt) {
		if err != nil {
			return nil, err
		}
		diffs = append(diffs, d)
	}
	return diffs, nil
}
