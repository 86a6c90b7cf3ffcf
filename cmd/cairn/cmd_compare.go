package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
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

func (c *cli) compareCommand() *cobra.Command {
	var opt cairn.CompareOptions
	cmd := c.command(command{
		use: "compare DIR|HASH...", short: "what several directories changed, side by side", manual: compareManual,
		args: argCount(1, -1, compareWants), complete: c.completeSourceThenFiles,
		run: func(ctx context.Context, cmd *cobra.Command, args []string) (err error) {
			n := len(args)
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				n = dash
			}
			if n == 0 {
				return c.usage("wants %s", compareWants)
			}
			if opt.Paths, err = c.paths(args[n:]); err != nil {
				return err
			}
			return c.withSources(ctx, args[:n], func(repo *cairn.Repo, sources []cairn.MergeSource) error {
				all, err := repo.Compare(ctx, sources, opt)
				if err != nil {
					return err
				}
				if c.global.json {
					return c.writeJSON(all)
				}
				return c.printComparison(all)
			})
		},
	})
	c.registerBase(cmd, &opt.Base)
	cmd.Flags().BoolVar(&opt.Hunks, hunkIDsFlag, false, "name the hunks")
	return cmd
}

func (c *cli) printComparison(all *cairn.Comparison) error {
	for i := range all.Sources {
		s := &all.Sources[i]
		c.answerLine(fmt.Sprintf("%s: %s since %s", placeText(string(s.Source)), wording.Count(len(s.Files), "file"), s.Base[:shortID]))
		for j := range s.Files {
			f := &s.Files[j]
			c.answerLine("    " + f.Line(all.Root))
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
func (c *cli) printHunk(h *cairn.Hunk) error {
	if h.Whole {
		c.answerLine("# hunk " + h.ID + ": " + h.Header)
		return nil
	}
	var text strings.Builder
	if err := h.Write(&text); err != nil {
		return err
	}
	_, err := c.out.WriteString(c.fileText(text.String()))
	return err
}
