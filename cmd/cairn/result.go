package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// printResult tells what a command that goes back did, or in a dry run what it would
// do. Where that is nothing at all it is said, too.
func (c *cli) printResult(cmd *cobra.Command, res *cairn.Result, nothing string) (err error) {
	if c.global.json {
		err = c.writeJSON(res)
	} else {
		err = c.listResult(res)
		c.summarize(res, nothing)
		c.invite(cmd, res)
	}
	if err == nil && !res.Complete() {
		err = errPartly
	}
	return err
}

// listResult lists what was done, or in a dry run what would be done. With -q only the
// paths are left that decide the exit status.
func (c *cli) listResult(res *cairn.Result) error {
	switch {
	case res.DryRun:
		lines := make([]string, len(res.Plan))
		for i, p := range res.Plan {
			lines[i] = "would " + p.Action + " " + cairn.QuotePath(p.Path)
		}
		c.cut(lines, maxLines, c.answerLine)
	case !c.global.quiet:
		c.listPaths("restored ", res.Restored)
		c.listPaths("deleted ", res.Deleted)
	}
	c.listReasons("kept ", res.Kept)
	c.listReasons("conflict ", res.Conflicts)
	c.listReasons("not taken back ", res.NotTakenBack)
	return c.out.Flush() // before the summary, which goes elsewhere
}

// maxLines is how many paths of a kind an answer lists without -v.
const maxLines = 20

func (c *cli) answerLine(line string) { c.out.WriteString(line + "\n") }

func (c *cli) listPaths(verb string, paths []string) {
	lines := make([]string, len(paths))
	for i, path := range paths {
		lines[i] = verb + cairn.QuotePath(path)
	}
	c.cut(lines, maxLines, c.answerLine)
}

func (c *cli) listReasons(verb string, list []cairn.PathReason) {
	lines := make([]string, len(list))
	for i, k := range list {
		lines[i] = verb + cairn.QuotePath(k.Path)
		if k.Reason != "" {
			lines[i] += ": " + printable(k.Reason)
		}
	}
	c.cut(lines, maxLines, c.answerLine)
}

func (c *cli) summarize(res *cairn.Result, nothing string) {
	var counts []string
	for _, n := range []struct {
		count int
		what  string
	}{
		{len(res.Restored), "restored"}, {len(res.Deleted), "deleted"},
		{len(res.Kept), "kept"}, {len(res.Conflicts), "in conflict"},
		{len(res.NotTakenBack), "not taken back"},
	} {
		if n.count > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n.count, n.what))
		}
	}
	switch {
	case len(counts) == 0:
		c.console.remark("%s", nothing)
	case res.DryRun:
		c.console.remark("nothing is changed yet; it would be: %s", strings.Join(counts, ", "))
	default:
		c.console.remark("%s", strings.Join(counts, ", "))
	}
}

// invite says how to carry out a plan that a dry run has listed.
func (c *cli) invite(cmd *cobra.Command, res *cairn.Result) {
	if !res.DryRun || len(res.Plan) == 0 {
		return
	}
	var written, deleted int64
	for _, p := range res.Plan {
		if p.Action == "delete" {
			deleted += p.Bytes
		} else {
			written += p.Bytes
		}
	}
	c.console.remark("to do exactly this (%s to write, %s to delete): %s", wording.Size(written), wording.Size(deleted), planLine(cmd, res.PlanID))
}
