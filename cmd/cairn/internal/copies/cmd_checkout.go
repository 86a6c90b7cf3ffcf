package copies

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/goback"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const checkoutManual = `cairn checkout puts a checkpoint into a new directory.

Usage:
    cairn checkout HASH DIR [--with-ignored[=PATTERN]...] [--dry-run]

DIR gets the exact state: contents, symlinks, permission bits and empty
directories. Nothing may be at DIR but an empty directory; it lies outside the
root or below an ignored directory of it, and the directory above it exists.
Otherwise the exit status is 2, and nothing was tried. Nothing else in the root
changes.

Files that the root still has with the wanted contents are cloned where the file
system can do that (Btrfs, XFS, APFS): they take no room until one of the two is
written to. Elsewhere they are copied. They keep their time of modification, so
that make and its like go on from there. Other files come out of the store.
Nothing is hard-linked: what is written in one directory never shows in the
other.

The copy is made beside DIR, in a directory called .NAME.cairn-DIGITS, and gets
its name at the end. If the process is killed, DIR is as before or whole; the
next checkout to the same DIR removes what was left.

Options:
    --with-ignored[=PATTERN]
                bring what the root holds and captures leave out, such as
                node_modules: ignored files, and files above the limit of size.
                PATTERN is one line as in .gitignore; it may be given several
                times, and !PATTERN takes out again what an earlier one has
                brought. The .git of nested repositories stays
    --dry-run   only say how many files and bytes it would be

The answer is the path of the directory, after a line for each path that is not
in it: left out, with the reason, if the checkpoint does not hold it; conflict,
with the reason, if the checkpoint does. A path is in conflict if its name
cannot be made on this file system, or if the store has lost its contents. The
exit status is 3 if there is a conflict.

With --json:
    {"dir", "checkpoint", "hash", "files", "bytes", "leftOut": [{"path",
    "reason"}], "conflicts": [{"path", "reason"}]}, and if not zero "ignored",
    "cloned", "copied", "written", each {"files", "bytes"}. After --dry-run
    "dryRun" is true, and "live" counts what would be cloned or copied.

Examples:
    cairn checkout @ ../try
    cairn checkout @~3 ../before --with-ignored=node_modules
    cairn checkout @ /tmp/whole --with-ignored --dry-run
`

func (c *commands) checkoutCommand() *cobra.Command {
	var opt cairn.CheckoutOptions
	cmd := c.Command(cli.Command{
		Use: "checkout HASH DIR", Short: "a checkpoint in a new directory", Manual: checkoutManual,
		Args: cli.ArgCount(2, 2, "a HASH and the DIR to make (cairn restore HASH [PATH...] brings files back)"), Complete: c.CompleteHashThenFiles,
		Run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			paths, err := c.Paths(args[1:])
			if err != nil {
				return err
			}
			opt.WithIgnored, opt.Ignored = len(opt.Ignored) > 0, ignoredPatterns(opt.Ignored)
			return c.WithRepo(func(repo *cairn.Repo) error {
				res, err := repo.Checkout(ctx, args[0], filepath.Clean(paths[0]), opt)
				if err != nil {
					return err
				}
				return c.printCheckout(res)
			})
		},
	})
	c.registerCopyFlags(cmd, &opt)
	return cmd
}

// registerCopyFlags adds the flags of commands that make a directory.
func (c *commands) registerCopyFlags(cmd *cobra.Command, opt *cairn.CheckoutOptions) {
	c.registerIgnored(cmd, &opt.Ignored)
	cmd.Flags().BoolVar(&opt.DryRun, goback.DryRunFlag, false, "only say how many files and bytes it would be")
}

func (c *commands) registerIgnored(cmd *cobra.Command, patterns *[]string) {
	cmd.Flags().StringArrayVar(patterns, "with-ignored", nil, "bring ignored files")
	cmd.Flags().Lookup("with-ignored").NoOptDefVal = everyIgnored
	cli.CompleteFlag(cmd, "with-ignored")
}

// everyIgnored is the value of --with-ignored without a pattern.
const everyIgnored = "**"

// ignoredPatterns returns the patterns of --with-ignored, none if one of them stands for everything.
func ignoredPatterns(given []string) []string {
	if len(given) == 1 && given[0] == everyIgnored {
		return nil
	}
	return given
}

// printCheckout prints what a checkout made.
func (c *commands) printCheckout(res *cairn.CheckoutResult) (err error) {
	if c.Global.JSON {
		err = c.WriteJSON(res)
	} else {
		c.ListReasons("left out ", res.LeftOut)
		c.ListReasons("conflict ", res.Conflicts)
		c.AnswerLine(res.Dir.Place())
		if err = c.Out.Flush(); err == nil { // before the summary, which goes elsewhere
			c.Console.Remark("%s", checkoutText(res))
		}
	}
	if err == nil && !res.Complete() {
		err = cli.ErrPartly
	}
	return err
}

// checkoutText sums a checkout up in a line.
func checkoutText(res *cairn.CheckoutResult) string {
	text := amountText(cairn.CopyAmount{Files: res.Files, Bytes: res.Bytes})
	if res.Ignored.Files > 0 {
		text += " and " + amountText(res.Ignored) + " of ignored files"
	}
	var ways []string
	for _, way := range []struct {
		name string
		cairn.CopyAmount
	}{{"cloned", res.Cloned}, {"copied", res.Copied}, {"from the store", res.Written}, {"cloned or copied", res.Live}} {
		if way.Files > 0 {
			ways = append(ways, fmt.Sprintf("%d %s", way.Files, way.name))
		}
	}
	if len(ways) > 0 {
		text += ": " + strings.Join(ways, ", ")
	}
	if res.DryRun {
		return "nothing is made yet; it would be " + text
	}
	return text
}

func amountText(a cairn.CopyAmount) string {
	return fmt.Sprintf("%s (%s)", wording.Count(a.Files, "file"), wording.Size(a.Bytes))
}
