package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/diffstat"
	"github.com/seed-fb9cbc17/cairn/internal/sessiontext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const logManual = `cairn log lists the checkpoints, newest first.

Usage:
    cairn log [-n N|-N] [--since T] [--until T] [--grep REGEXP] [-S STRING]
              [--session S] [--stat] [[--] PATH...]

Each line has the first 12 digits of the checkpoint's id and of its tree, both
of which are a HASH, its age, who made the changes, how many files changed
against its parent, and the message. The parent is the checkpoint before it on
its line; the first of a line, that is of a day, has none to compare with. On a
terminal, names that cairn pin gave stand behind the id.
A checkpoint of an agent's step has the agent and the first line of the prompt,
and a line below has its tools, their commands, and the first files.

With a PATH only checkpoints that change it, or a path below it. A PATH that is
not on disk goes after --. The first of a
line is then compared with the newest older one of any line. All options can be
combined.

Options:
    -n, --number N        only the newest N; -5 is short for -n 5
    --since T             not older than T: a date, with a time of day or
                          without, or as git reads it, 2.hours.ago, yesterday,
                          2h, last monday
    --until T             not newer than T
    --grep REGEXP         the prompt or the message matches
    -i, --ignore-case     with --grep: upper and lower case are the same
    -S, --pickaxe STRING  a file contains STRING more or less often than before
    --session S           of this session only
    --stat                also the lines added and deleted, file by file, as in
                          cairn diff --stat

With --json the answer is an array of {"id", "hash", "time", "author",
"message", "parent"}, printed as it is read: the ids in full, the time as in RFC
3339, and no parent where there is none. A checkpoint that does not hold
everything has "scope", see cairn help status. One of an agent's session has
"work": {"sessionID", "messageID", "stepID", "agent", "prompt", "calls":
[{"tool", "command"}], "paths", "changed"}, the first few calls and paths, and
the number of all paths. With --stat there is also "files", as in cairn diff
--stat --json.

The status is 4 if no checkpoint ever had the first PATH.

Examples:
    cairn log -5
    cairn log --since 2h --grep 'fix.*test' -- src
    cairn log -S parseTime --stat
    cairn log --stat -n 1
`

const shortID = 12 // digits of an id in a list for people

type logFlags struct {
	number               int
	stat                 bool
	since, until, search string
	grep, session        string
	ignoreCase           bool
}

func (c *cli) logCommand() *cobra.Command {
	var f logFlags
	cmd := c.command(command{
		use: "log [-n N] [--stat] [PATH...]", short: "list the checkpoints", manual: logManual,
		args: argCount(0, -1, "paths"), complete: completeFiles,
		run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if err := c.checkNumber(cmd, f.number); err != nil {
				return err
			}
			opt, err := c.logOptions(cmd, &f, args)
			if err != nil {
				return err
			}
			return c.withRepo(func(repo *cairn.Repo) error { return c.log(ctx, repo, &f, opt) })
		},
	})
	registerNumber(cmd, &f.number)
	flags := cmd.Flags()
	flags.BoolVar(&f.stat, "stat", false, "also count lines, file by file")
	flags.StringVar(&f.since, "since", "", "not older")
	flags.StringVar(&f.until, "until", "", "not newer")
	flags.StringVar(&f.grep, "grep", "", "prompt or message matches")
	flags.BoolVarP(&f.ignoreCase, "ignore-case", "i", false, "with --grep: regardless of case")
	flags.StringVarP(&f.search, "pickaxe", "S", "", "a file contains it more or less often than before")
	flags.StringVar(&f.session, "session", "", "of this session only")
	return cmd
}

// logOptions reads the options that the library knows.
func (c *cli) logOptions(cmd *cobra.Command, f *logFlags, args []string) (opt cairn.LogOptions, err error) {
	if cmd.Flags().Changed("pickaxe") && f.search == "" {
		return opt, c.usage("cannot search for an empty text")
	}
	opt.Text = f.search
	if opt.Paths, err = c.paths(args); err != nil {
		return opt, err
	}
	sure := cmd.ArgsLenAtDash() // as in git, only a path on disk is sure to be one
	for i, path := range opt.Paths {
		if _, err := os.Lstat(path); err != nil && (sure < 0 || i < sure) {
			return opt, c.usage("cannot find %s on disk: a path that is gone goes after --", wording.ShellWord(args[i]))
		}
	}
	for _, t := range []struct {
		text string
		to   *time.Time
	}{{f.since, &opt.Since}, {f.until, &opt.Until}} {
		if t.text == "" {
			continue
		}
		at, ok := parseTime(t.text, c.console.Now())
		if !ok {
			return opt, c.usage("cannot read the time %s: want a date, or how long ago, as in 2.hours.ago", wording.ShellWord(t.text))
		}
		*t.to = at
	}
	return opt, nil
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
	session  string
	grep     *regexp.Regexp
}

func (c *cli) log(ctx context.Context, repo *cairn.Repo, f *logFlags, opt cairn.LogOptions) (err error) {
	r := logRun{cli: c, ctx: ctx, repo: repo, stat: f.stat, array: jsonArray{c: c}, sessions: session.New(repo), known: make(session.WorkCache)}
	if f.grep != "" {
		text := f.grep
		if f.ignoreCase {
			text = "(?i)" + text
		}
		if r.grep, err = regexp.Compile(text); err != nil {
			return c.usage("cannot read %s: %v", wording.ShellWord(f.grep), err)
		}
	}
	if f.session != "" {
		if r.session, err = r.sessions.Find(ctx, f.session); err != nil {
			return err
		}
	}
	left := f.number
	for cp, err := range repo.Log(ctx, opt) {
		shown := false
		if err == nil {
			shown, err = r.checkpoint(cp)
		}
		if err != nil {
			return err
		}
		if !shown {
			continue
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

// selects reports whether the session and the texts of a checkpoint are wanted.
func (r *logRun) selects(cp *cairn.Checkpoint, work *session.Work) (bool, error) {
	if r.session != "" && (work == nil || work.Session != r.session) {
		return false, nil
	}
	if r.grep == nil || r.grep.MatchString(cp.Message) {
		return true, nil
	}
	if work == nil {
		return false, nil
	}
	prompt, err := r.sessions.Prompt(r.ctx, work.Session, work.Message)
	return r.grep.MatchString(prompt) || r.grep.MatchString(work.Prompt), err
}

// checkpoint prints a checkpoint if it is wanted.
func (r *logRun) checkpoint(cp *cairn.Checkpoint) (shown bool, err error) {
	work, err := r.sessions.WorkOf(r.ctx, cp.ID, r.known)
	if err != nil {
		return false, err
	}
	if shown, err = r.selects(cp, work); !shown || err != nil {
		return false, err
	}
	return true, r.write(cp, work)
}

func (r *logRun) write(cp *cairn.Checkpoint, work *session.Work) error {
	var changes []cairn.Change
	var stats []diffstat.File
	partial, err := cp.Extent()
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
	return r.writeStats(stats)
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
		line += ": " + wording.FirstLine(message, max(8, sessiontext.Width-2-wording.Columns(line)))
	case message != noMessage:
		line += ": " + wording.Printable(message)
	}
	r.decoratedLine(cp.ID, line)
	if agents {
		r.writeLines(sessiontext.Work(work, "    "))
	}
}
