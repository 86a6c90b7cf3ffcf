package copies

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/goback"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const compareManual = `cairn compare lists what several directories changed, side by side.

Usage:
    cairn compare DIR|HASH... [--base HASH] [--hunk-ids] [-- PATH...]

Each DIR or HASH is as for cairn merge. For each, the files are listed that it
changed since the newest state that it has in common with this directory; a file
that was moved is one line. Behind a file stand the others that changed it, too:
this directory (here), or another DIR or HASH, and how the two changes go
together:
    same       both have the same result
    merges     a three-way merge is clean
    conflicts  it is not
After -- come paths that narrow the list down; they are those of this directory.
The status is 4 if one of them is on no side.

Options:
    --base HASH  the state that all come from, as for cairn merge
    --hunk-ids   also the changed places, with names for cairn merge --hunk

With --json:
    {"root", "sources": [{"source", "checkpoint", "base", "files": [{"file",
    "oldPath", "similarity", "status", "additions", "deletions", "note",
    "overlaps": [{"with", "outcome"}], "hunks": []}]}]}, the hunks as in cairn
    diff --json, and only with --hunk-ids.

Examples:
    cairn compare ../try-1 ../try-2 ../try-3
    cairn compare ../try-2 --hunk-ids -- src
`

const compareWants = "directories or HASHes, and perhaps -- and paths"

func (c *commands) compareCommand() *cobra.Command {
	var opt cairn.CompareOptions
	cmd := c.Command(cli.Command{
		Use: "compare DIR|HASH...", Short: "what several directories changed, side by side", Manual: compareManual,
		Args: cli.ArgCount(1, -1, compareWants), Complete: c.CompleteSourceThenFiles,
		Run: func(ctx context.Context, cmd *cobra.Command, args []string) (err error) {
			n := len(args)
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				n = dash
			}
			if n == 0 {
				return c.Usage("wants %s", compareWants)
			}
			if opt.Paths, err = c.Paths(args[n:]); err != nil {
				return err
			}
			return c.withSources(ctx, args[:n], func(repo *cairn.Repo, sources []cairn.MergeSource) error {
				all, err := repo.Compare(ctx, sources, opt)
				if err != nil {
					return err
				}
				if c.Global.JSON {
					return c.WriteJSON(all)
				}
				return c.printComparison(all)
			})
		},
	})
	c.registerBase(cmd, &opt.Base)
	cmd.Flags().BoolVar(&opt.Hunks, goback.HunkIDsFlag, false, "name the hunks")
	return cmd
}

func (c *commands) printComparison(all *cairn.Comparison) error {
	for i := range all.Sources {
		s := &all.Sources[i]
		c.AnswerLine(fmt.Sprintf("%s: %s since %s", pathtext.Place(string(s.Source)), wording.Count(len(s.Files), "file"), s.Base[:cli.ShortID]))
		for j := range s.Files {
			f := &s.Files[j]
			c.AnswerLine("    " + f.Line(all.Root))
			for k := range f.Hunks {
				if err := c.printHunk(&f.Hunks[k]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// printHunk prints a hunk with its name.
func (c *commands) printHunk(h *cairn.Hunk) error {
	if h.Whole {
		c.AnswerLine("# hunk " + h.ID + ": " + h.Header)
		return nil
	}
	var text strings.Builder
	if err := h.Write(&text); err != nil {
		return err
	}
	shown := text.String()
	if c.Visible() {
		shown = wording.VisibleLines(shown)
	}
	_, err := c.Out.WriteString(shown)
	return err
}
