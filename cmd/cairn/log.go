package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const logManual = `cairn log lists the checkpoints, newest first.

Usage:
    cairn log [-n N] [--stat]

Each line has the first 12 digits of the checkpoint's id and of its tree, both
of which are a HASH, its age, who made the changes, how many files changed
against its parent, and the message. The parent is the checkpoint before it on
its line; the first of a line, that is of a day, has none to compare with.

Options:
    -n, --number N  only the newest N
    --stat          also the lines added and deleted, file by file, as in
                    cairn diff --stat

With --json the answer is an array of {"checkpoint", "hash", "when", "author",
"message", "parent"}, printed as it is read: the ids in full, the time as in RFC
3339, and no parent where there is none. A checkpoint that does not hold
everything has "partial", see cairn help status. With --stat there is also
"files", as in cairn diff --stat --json.

Examples:
    cairn log -n 5
    cairn log --stat -n 1
`

const shortID = 12 // digits of an id in a list for people

type logFlags struct {
	number int
	stat   bool
}

func (c *cli) logCommand() *cobra.Command {
	var f logFlags
	cmd := c.command(command{
		use: "log [-n N] [--stat]", short: "list the checkpoints", manual: logManual,
		args: takes(0, 0, "no arguments"), complete: cobra.NoFileCompletions,
		run: func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			if err := c.checkNumber(cmd, f.number); err != nil {
				return err
			}
			return c.withRepo(func(repo *cairn.Repo) error { return c.log(ctx, repo, &f) })
		},
	})
	registerNumber(cmd, &f.number)
	cmd.Flags().BoolVar(&f.stat, "stat", false, "also count lines, file by file")
	return cmd
}

// registerNumber adds -n to a command that lists; 0 stands for no limit.
func registerNumber(cmd *cobra.Command, n *int) {
	cmd.Flags().IntVarP(n, "number", "n", 0, "only the newest")
	completeFlag(cmd, "number")
}

func (c *cli) checkNumber(cmd *cobra.Command, n int) error {
	if cmd.Flags().Changed("number") && n < 1 {
		return c.usage("cannot list %d: -n wants a number above 0", n)
	}
	return nil
}

// logEntry is one checkpoint of the list.
type logEntry struct {
	Checkpoint string      `json:"checkpoint"`
	Hash       string      `json:"hash"`
	When       time.Time   `json:"when"`
	Author     string      `json:"author"`
	Message    string      `json:"message"`
	Parent     string      `json:"parent,omitempty"`
	Files      *[]fileStat `json:"files,omitempty"`

	Partial cairn.Partial `json:"partial,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (e logEntry) MarshalJSON() ([]byte, error) {
	type plain logEntry
	return json.Marshal(plain(e))
}

func (c *cli) log(ctx context.Context, repo *cairn.Repo, f *logFlags) error {
	array := jsonArray{c: c}
	left := f.number
	for cp, err := range repo.Checkpoints(ctx) {
		if err == nil {
			err = c.logCheckpoint(ctx, repo, cp, f.stat, &array)
		}
		if err != nil {
			return err
		}
		if left--; left == 0 {
			break
		}
	}
	if c.global.json {
		return array.close()
	}
	return nil
}

func (c *cli) logCheckpoint(ctx context.Context, repo *cairn.Repo, cp *cairn.Checkpoint, stat bool, array *jsonArray) error {
	var changes []cairn.Change
	var stats []fileStat
	partial, err := cp.Partial()
	if err != nil {
		return err
	}
	if cp.Parent != "" && (stat || !c.global.json) {
		if changes, err = repo.Changes(ctx, cp.Parent, cp.ID); err != nil {
			return err
		}
	}
	if stat {
		if stats, err = statsOf(ctx, repo, changes, cairn.DiffOptions{}); err != nil {
			return err
		}
	}
	if c.global.json {
		e := logEntry{cp.ID, cp.Hash, cp.When, cp.Author, cp.Message, cp.Parent, nil, partial}
		if stat && cp.Parent != "" {
			e.Files = &stats
		}
		return array.add(e)
	}
	c.writeLogLine(cp, len(changes), partial)
	return c.writeStats(stats)
}

func (c *cli) writeLogLine(cp *cairn.Checkpoint, changed int, partial cairn.Partial) {
	count := "first of its line"
	if cp.Parent != "" {
		count = wording.Count(changed, "file")
	}
	switch partial {
	case cairn.PartialTime:
		count += ", partial"
	case cairn.PartialPaths:
		count += ", some paths"
	}
	fmt.Fprintf(c.out, "%.*s %.*s  %-14s  %s, %s", shortID, cp.ID, shortID, cp.Hash,
		ageText(c.console.now().Sub(cp.When)), printable(cp.Author), count)
	if cp.Message != noMessage {
		c.out.WriteString(": " + printable(cp.Message))
	}
	c.out.WriteByte('\n')
}
