package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
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

func (c *cli) listResult(res *cairn.Result) error {
	line := func(verb, path, reason string) {
		c.out.WriteString(verb + " " + cairn.QuotePath(path))
		if reason != "" {
			c.out.WriteString(": " + printable(reason))
		}
		c.out.WriteByte('\n')
	}
	if res.DryRun {
		for _, p := range res.Plan {
			line("would "+p.Action, p.Path, "")
		}
	} else {
		for _, path := range res.Restored {
			line("restored", path, "")
		}
		for _, path := range res.Deleted {
			line("deleted", path, "")
		}
	}
	for _, k := range res.Kept {
		line("kept", k.Path, k.Reason)
	}
	for _, k := range res.Conflicts {
		line("conflict", k.Path, k.Reason)
	}
	return c.out.Flush() // before the summary, which goes elsewhere
}

func (c *cli) summarize(res *cairn.Result, nothing string) {
	var counts []string
	for _, n := range []struct {
		count int
		what  string
	}{
		{len(res.Restored), "restored"}, {len(res.Deleted), "deleted"},
		{len(res.Kept), "kept"}, {len(res.Conflicts), "in conflict"},
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
	c.console.remark("to do exactly this (%s to write, %s to delete): %s", sizeText(written), sizeText(deleted), planLine(cmd, res.PlanID))
}
