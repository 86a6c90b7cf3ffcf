package main

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/diffstat"
	"github.com/seed-fb9cbc17/cairn/internal/sessiontext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const logManual = `cairn log lists the checkpoints, newest first.

Usage:
    cairn log [-n N] [--stat]

Each line has the first 12 digits of the checkpoint's id and of its tree, both
of which are a HASH, its age, who made the changes, how many files changed
against its parent, and the message. The parent is the checkpoint before it on
its line; the first of a line, that is of a day, has none to compare with.
A checkpoint of an agent's step has the agent and the first line of the prompt,
and a line below has its tools, their commands, and the first files.

Options:
    -n, --number N  only the newest N
    --stat          also the lines added and deleted, file by file, as in
                    cairn diff --stat

With --json the answer is an array of {"id", "hash", "time", "author",
"message", "parent"}, printed as it is read: the ids in full, the time as in RFC
3339, and no parent where there is none. A checkpoint that does not hold
everything has "scope", see cairn help status. One of an agent's session has
"work": {"sessionID", "messageID", "stepID", "agent", "prompt", "calls":
[{"tool", "command"}], "paths", "changed"}, the first few calls and paths, and
the number of all paths. With --stat there is also "files", as in cairn diff
--stat --json.

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
		args: argCount(0, 0, "no arguments"), complete: cobra.NoFileCompletions,
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

// registerNumber adds -n to a command that lists; 0 means no limit.
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
	ID      string    `json:"id"`
	Hash    string    `json:"hash"`
	Time    time.Time `json:"time"`
	Author  string    `json:"author"`
	Message string    `json:"message"`
	Parent  string    `json:"parent,omitempty"`

	Work  *session.Work    `json:"work,omitempty"`
	Files *[]diffstat.File `json:"files,omitempty"`

	Partial cairn.Extent `json:"scope,omitempty"`
}

// logRun is one call.
type logRun struct {
	*cli
	ctx      context.Context
	repo     *cairn.Repo
	stat     bool
	array    jsonArray
	sessions *session.Sessions
	known    session.WorkCache
}

func (c *cli) log(ctx context.Context, repo *cairn.Repo, f *logFlags) error {
	r := logRun{cli: c, ctx: ctx, repo: repo, stat: f.stat, array: jsonArray{c: c}, sessions: session.New(repo), known: make(session.WorkCache)}
	left := f.number
	for cp, err := range repo.Checkpoints(ctx) {
		if err == nil {
			err = r.checkpoint(cp)
		}
		if err != nil {
			return err
		}
		if left--; left == 0 {
			break
		}
	}
	if c.global.json {
		return r.array.close()
	}
	return nil
}

func (r *logRun) checkpoint(cp *cairn.Checkpoint) error {
	var changes []cairn.Change
	var stats []diffstat.File
	partial, err := cp.Extent()
	if err != nil {
		return err
	}
	work, err := r.sessions.WorkOf(r.ctx, cp.ID, r.known)
	if err != nil {
		return err
	}
	if cp.Parent != "" && (r.stat || !r.global.json) {
		if changes, err = r.repo.Changes(r.ctx, cp.Parent, cp.ID); err != nil {
			return err
		}
	}
	if r.stat {
		if stats, err = diffstat.Of(r.ctx, r.repo, changes, cairn.DiffOptions{}); err != nil {
			return err
		}
	}
	if r.global.json {
		e := logEntry{cp.ID, cp.Hash, cp.When, cp.Author, cp.Message, cp.Parent, work, nil, partial}
		if r.stat && cp.Parent != "" {
			e.Files = &stats
		}
		return r.array.add(e)
	}
	r.writeLine(cp, work, changes, partial)
	return diffstat.Write(r.out, stats, r.columns)
}

// writeLine prints one checkpoint, and below it the tools and files of an agent's step.
func (r *logRun) writeLine(cp *cairn.Checkpoint, work *session.Work, changes []cairn.Change, partial cairn.Extent) {
	count := "first of its line"
	if cp.Parent != "" {
		count = wording.Count(len(changes), "file")
	}
	switch partial {
	case cairn.ExtentTime:
		count += ", partial"
	case cairn.ExtentPaths:
		count += ", some paths"
	}
	who, message := cp.Author, cp.Message
	agents := work != nil && cp.Author == session.AuthorAgent
	if work != nil {
		who, message = wording.Heading(agents, who, message, work.Agent, work.Prompt)
	}
	line := fmt.Sprintf("%.*s %.*s  %-14s  %s, %s", shortID, cp.ID, shortID, cp.Hash, wording.Ago(r.console.Now().Sub(cp.When)), wording.Printable(who), count)
	switch {
	case work != nil:
		line += ": " + wording.FirstLine(message, max(8, sessiontext.Width-2-utf8.RuneCountInString(line)))
	case message != noMessage:
		line += ": " + wording.Printable(message)
	}
	r.out.WriteString(line + "\n")
	if agents {
		r.writeLines(sessiontext.Work(work, "    "))
	}
}
