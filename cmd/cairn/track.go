package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
)

const trackManual = `cairn track takes a checkpoint of the root and prints its id.

Usage:
    cairn track [-m TEXT] [--verify]

The id names the contents: it is the tree that git add -A and git write-tree
would give, bytes as they lie on disk, so equal states have equal ids. When
nothing has changed since the last checkpoint of the day, nothing is written
and the same id comes again. The id is printed only if everything in scope was
read; otherwise track fails and there is no new checkpoint.

Files that are ignored are left out without a word, unless an earlier checkpoint
or your git index holds them. Anything else that is left out is listed on stderr
with the reason, and the exit status is 3: files above --max-file-size, files
that cannot be read or keep changing while they are read, sockets, pipes and
devices. They are recorded as present, so that going back never deletes them.

Options:
    -m, --message TEXT  what the checkpoint is for; always makes a new one
    --verify            read every file, even those that look unchanged

With --json:
    {"hash", "checkpoint", "files", "changed", "skipped": [{"path", "reason",
    "size"}]}: the tree, the commit, how many files it holds, how many paths
    differ from the checkpoint before, and what was left out.

Examples:
    cairn track -m 'tests pass'
    before=$(cairn track -q) && ./agent; cairn diff "$before"
`

// maxListed is how many skipped paths are listed for people.
const maxListed = 10

func (c *cli) trackCommand() *cobra.Command {
	var opt cairn.TrackOptions
	cmd := c.command(command{
		use: "track [-m TEXT] [--verify]", short: "take a checkpoint", manual: trackManual,
		args: takes(0, 0, "no arguments; a message goes after -m"), complete: cobra.NoFileCompletions,
		run: func(ctx context.Context, _ *cobra.Command, _ []string) error {
			t, err := c.track(ctx, opt)
			if err != nil {
				return err
			}
			return c.printTrack(t)
		},
	})
	cmd.Flags().StringVarP(&opt.Message, "message", "m", "", "what the checkpoint is for")
	cmd.Flags().BoolVar(&opt.Verify, "verify", false, "read every file")
	return cmd
}

func (c *cli) printTrack(t *cairn.Track) (err error) {
	if c.global.json {
		err = c.writeJSON(t)
	} else {
		_, err = c.out.WriteString(t.Hash + "\n")
		c.listSkipped(t)
	}
	if err == nil && len(t.Skipped) > 0 {
		err = errPartly
	}
	return err
}

func (c *cli) listSkipped(t *cairn.Track) {
	tooLarge := false
	for i, s := range t.Skipped {
		if i < maxListed {
			c.console.remark("not captured: %s: %s", cairn.QuotePath(s.Path), skipReason(s, t.Reasons[s.Path]))
		}
		tooLarge = tooLarge || s.Reason == "too large"
	}
	if n := len(t.Skipped) - maxListed; n > 0 {
		c.console.remark("and %d more (--json lists them all)", n)
	}
	if tooLarge {
		c.console.remark("hint: --max-file-size raises the limit")
	}
}

func skipReason(s cairn.Skipped, cause error) string {
	switch {
	case cause != nil:
		return s.Reason + " (" + cause.Error() + ")"
	case s.Reason == "too large":
		return s.Reason + " (" + sizeText(s.Size) + ")"
	}
	return s.Reason
}
