package look

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/diffstat"
	"github.com/seed-fb9cbc17/cairn/internal/sessiontext"
	"github.com/seed-fb9cbc17/cairn/internal/timewords"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const logManual = `cairn log lists the checkpoints, newest first.

Usage:
    cairn log [-n N|-N] [--since T] [--until T] [--grep REGEXP] [-S STRING]
              [--session S] [--fetched] [-p] [--stat] [-U N] [-w] [-M]
              [--word-diff[=MODE] | --color-words] [[--] PATH...]

Each line has the first 12 digits of the checkpoint's id and of its tree, both
of which are a HASH, its age, who made the changes, how many files changed
against its parent, and the message. The parent is the checkpoint before it on
its line; the first of a line, that is of a day, has none to compare with. On a
terminal, names that cairn pin gave stand behind the id. Where a test was noted
(cairn help test), it says passed or failed.
A checkpoint of an agent's step has the agent and the first line of the prompt,
and a line below has its model, its tools, their commands, and the first files.
With -v another line has the ids of session, message and step.

With a PATH only checkpoints that change it, or a path below it, be it only the
permission bits. A PATH that is not on disk goes after --. A change is listed
once, also where several lines have it: with the agent's step that made it, else
with the first checkpoint that has it. Steps of several sessions at the same
time are all listed. The first of a line is then compared with the newest older
one of any line. All options can be combined.

Options:
    -n, --number N        only the newest N; -5 is short for -n 5
    --since T             not older than T: a date as 2026-01-31, which has the
                          present time of day, as in git, or one with a time as
                          2026-01-31 12:30, or as in RFC 3339; 12:30 of today;
                          now, today, yesterday, midnight, monday, last monday;
                          how long ago, as in 2.hours.ago, 3 days, 90s, 5m, 2h,
                          2d, 1w, 2mo or 1y; or seconds, as in @1700000000
    --until T             not newer than T
    --grep REGEXP         the prompt or the message matches
    -i, --ignore-case     with --grep: upper and lower case are the same
    -S, --pickaxe STRING  a file contains STRING more or less often than before
    --session S           of this session only
    --fetched             instead those of other machines that cairn fetch has
                          brought, and whose they are, and imported ones
    -p, --patch           also the difference, as in cairn diff, of the PATHs if
                          there are any
    --stat                also the lines added and deleted, file by file
    --oneline             one line each, without the tools and files of a step
    -U, --unified N; -w, --ignore-all-space; -M, --find-renames;
    --word-diff MODE; --color-words
                          as in cairn diff; all but -w and -M mean -p, too

With --json the answer is an array of {"id", "hash", "time", "author",
"message", "parent"}, printed as it is read: the ids in full, the time as in RFC
3339, the message "checkpoint" where none was given, and no parent where there
is none. A checkpoint that does not hold everything has "scope", see cairn help
status; one with a result of a test has "passed", one after checkpoints that the
setting keep has thinned "thinnedBefore", their number, and one whose files hold
secrets "secrets", as in cairn status. One of an agent's session has
"work": {"sessionID", "messageID", "stepID", "agent", "model", "prompt",
"calls": [{"tool", "command"}], "paths", "changed"}, the first few calls and
paths, and the number of all paths. With --stat there is also "files", as in
cairn diff --stat --json, and with -p "diffs", as in cairn diff --json.
-M and changed words have no form in JSON: status 2.

A checkpoint that only a newer cairn can read is listed as such, with "error" in
JSON, and so is one that would have to be compared with it. The status is 3
then. It is 4 if no checkpoint ever had the first PATH.

Examples:
    cairn log -5
    cairn log --since 2h --grep 'fix.*test' -- src
    cairn log -S parseTime --stat
    cairn log -p -2 -- main.go
    cairn log --stat -n 1
    cairn log --fetched -10
`

type logFlags struct {
	patchFlags
	number               int
	since, until, search string
	grep, session        string
	ignoreCase, oneline  bool
	fetched              bool
}

func (c *commands) logCommand() *cobra.Command {
	var f logFlags
	cmd := c.Command(cli.Command{
		Use: "log [-n N] [-p] [--stat] [PATH...]", Short: "list the checkpoints", Manual: logManual,
		Args: cli.ArgCount(0, -1, "paths"), Complete: cli.CompleteFiles,
		Run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if err := c.checkNumber(cmd, f.number); err != nil {
				return err
			}
			opt, err := c.logOptions(cmd, &f, args)
			if err != nil {
				return err
			}
			text, err := f.options(c, cmd)
			if err != nil {
				return err
			}
			return c.WithRepo(func(repo *cairn.Repo) error { return c.log(ctx, repo, &f, opt, text) })
		},
	})
	registerNumber(cmd, &f.number)
	f.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "", "not older")
	flags.StringVar(&f.until, "until", "", "not newer")
	flags.StringVar(&f.grep, "grep", "", "prompt or message matches")
	flags.BoolVarP(&f.ignoreCase, "ignore-case", "i", false, "with --grep: regardless of case")
	flags.BoolVar(&f.oneline, "oneline", false, "one line each")
	flags.StringVarP(&f.search, "pickaxe", "S", "", "a file contains it more or less often than before")
	flags.StringVar(&f.session, "session", "", "of this session only")
	flags.BoolVar(&f.fetched, "fetched", false, "those of other stores")
	c.CompleteSessionFlag(cmd)
	return cmd
}

// logOptions reads the options that the library knows.
func (c *commands) logOptions(cmd *cobra.Command, f *logFlags, args []string) (opt session.LogOptions, err error) {
	if cmd.Flags().Changed("pickaxe") && f.search == "" {
		return opt, c.Usage("cannot search for an empty text")
	}
	opt.LogOptions.Text, opt.Session, opt.Fetched = f.search, f.session, f.fetched
	if f.grep != "" {
		text := f.grep
		if f.ignoreCase {
			text = "(?i)" + text
		}
		if opt.Text, err = regexp.Compile(text); err != nil {
			return opt, c.Usage("cannot read %s: %v", wording.ShellWord(f.grep), err)
		}
	}
	if opt.Paths, err = c.Paths(args); err != nil {
		return opt, err
	}
	sure := cmd.ArgsLenAtDash() // as in git, only a path on disk is sure to be one
	for i, path := range opt.Paths {
		if _, err := os.Lstat(path); err != nil && (sure < 0 || i < sure) {
			return opt, c.Usage("cannot find %s on disk: a path that is gone goes after --", wording.ShellWord(args[i]))
		}
	}
	for _, t := range []struct {
		text string
		to   *time.Time
	}{{f.since, &opt.Since}, {f.until, &opt.Until}} {
		if t.text == "" {
			continue
		}
		at, ok := timewords.Parse(t.text, c.Console.Now())
		if !ok {
			return opt, c.Usage("cannot read the time %s: want a date, or how long ago, as in 2.hours.ago", wording.ShellWord(t.text))
		}
		*t.to = at
	}
	return opt, nil
}

// registerNumber adds -n to a command that lists; 0 stands for no limit.
func registerNumber(cmd *cobra.Command, n *int) {
	cmd.Flags().IntVarP(n, "number", "n", 0, "only the newest")
	cli.CompleteFlag(cmd, "number")
}

func (c *commands) checkNumber(cmd *cobra.Command, n int) error {
	if cmd.Flags().Changed("number") && n < 1 {
		return c.Usage("cannot list %d: -n wants a number above 0", n)
	}
	return nil
}

// logRun is one call.
type logRun struct {
	*commands
	ctx      context.Context
	repo     *cairn.Repo
	sessions *session.Sessions
	f        *logFlags
	text     cairn.DiffOptions
	paths    []string
	array    cli.JSONArray
	unread   bool            // a later release has made a checkpoint
	tested   map[string]bool // by checkpoint, see verdicts
}

func (c *commands) log(ctx context.Context, repo *cairn.Repo, f *logFlags, opt session.LogOptions, text cairn.DiffOptions) error {
	r := logRun{commands: c, ctx: ctx, repo: repo, sessions: session.New(repo), f: f, text: text, paths: opt.Paths, array: c.NewArray()}
	left := f.number
	c.tellUnderWay(repo)
	for e, err := range r.sessions.Checkpoints(ctx, opt) {
		if err == nil {
			err = r.write(e.Checkpoint, e.Work)
		}
		if err != nil {
			return err
		}
		if left--; left == 0 {
			break
		}
	}
	var err error
	if c.Global.JSON {
		err = r.array.Close()
	}
	if left == f.number && !selects(&opt) {
		r.tellOfOthers()
	}
	if err == nil && r.unread {
		err = cli.ErrPartly
	}
	return err
}

// selects reports whether a log may be empty although there are checkpoints.
func selects(opt *session.LogOptions) bool {
	return opt.Fetched || opt.Session != "" || opt.Text != nil || opt.LogOptions.Text != "" ||
		len(opt.Paths) > 0 || !opt.Since.IsZero() || !opt.Until.IsZero()
}

// tellOfOthers says where checkpoints are, if this store has none of its own.
func (r *logRun) tellOfOthers() {
	for _, err := range r.repo.Log(r.ctx, cairn.LogOptions{Fetched: true}) {
		if err == nil {
			r.Console.Remark("no checkpoint of this machine yet; cairn log --fetched lists those of others")
		}
		return
	}
}

// write prints a checkpoint. One that only a newer cairn can read, or compare, does not hide the others.
func (r *logRun) write(cp *cairn.Checkpoint, work *session.Work) error {
	err := r.writeWhole(cp, work)
	if !errors.Is(err, cairn.ErrLater) {
		return err
	}
	r.unread = true
	if r.Global.JSON {
		return r.array.Add(cli.LogEntry{
			ID: cp.ID, Hash: cp.Hash, Time: cp.When, Author: cp.Author, Message: cp.Message,
			Parent: cp.Parent, Work: work, ThinnedBefore: cp.ThinnedBefore, Error: err.Error(),
		})
	}
	what := "cannot be read"
	if _, own := cp.Extent(); own == nil {
		what = "cannot be compared with the one before it"
	}
	r.writeHead(cp, work, what+" (a later release of cairn made it; use a newer cairn)")
	return nil
}

// writeWhole prints nothing where it returns an ErrLater.
func (r *logRun) writeWhole(cp *cairn.Checkpoint, work *session.Work) error {
	partial, err := cp.Extent()
	if err != nil {
		return err
	}
	if r.Global.JSON {
		return r.writeEntry(cp, work, partial)
	}
	var all []cairn.Change
	if cp.Parent != "" {
		if all, err = r.repo.Changes(r.ctx, cp.Parent, cp.ID); err != nil {
			return err
		}
	}
	shown := all
	if len(r.paths) > 0 || cp.ComparedWith() != cp.Parent {
		if shown, err = r.changes(cp); err != nil {
			return err
		}
	}
	r.writeLine(cp, work, all, partial)
	return r.writePatch(r.ctx, r.repo, &r.f.patchFlags, shown, r.text)
}

// changes lists what --stat and -p show of a checkpoint.
func (r *logRun) changes(cp *cairn.Checkpoint) ([]cairn.Change, error) {
	before := cp.ComparedWith()
	if before == "" || !r.f.stat && !r.f.patch {
		return nil, nil
	}
	return r.repo.Changes(r.ctx, before, cp.ID, r.paths...)
}

// writeEntry prints a checkpoint in JSON.
func (r *logRun) writeEntry(cp *cairn.Checkpoint, work *session.Work, partial cairn.Extent) error {
	e := cli.LogEntry{
		ID: cp.ID, Hash: cp.Hash, Time: cp.When, Author: cp.Author, Message: cp.Message,
		Parent: cp.Parent, Work: work, Files: nil, Diffs: nil, Partial: partial, Passed: nil,
		ThinnedBefore: cp.ThinnedBefore, Secrets: nil, Error: "",
	}
	e.Fetched, e.Imported = answers.From(cp)
	var err error
	if e.Secrets, err = cp.Secrets(); err != nil {
		return err
	}
	if passed, ok := r.verdicts()[cp.ID]; ok {
		e.Passed = &passed
	}
	changes, err := r.changes(cp)
	if err != nil {
		return err
	}
	if r.f.stat && cp.ComparedWith() != "" {
		stats, err := diffstat.Of(r.ctx, r.repo, changes, r.text)
		if err != nil {
			return err
		}
		e.Files = &stats
	}
	if r.f.patch && cp.ComparedWith() != "" {
		diffs, err := diffsOf(r.ctx, r.repo, changes, r.text)
		if err != nil {
			return err
		}
		e.Diffs = &diffs
	}
	return r.array.Add(e)
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
	if cp.ThinnedBefore > 0 {
		count += fmt.Sprintf(", %d thinned before", cp.ThinnedBefore)
	}
	if secrets, err := cp.Secrets(); err == nil && len(secrets) > 0 {
		count += ", " + wording.Count(len(secrets), "secret")
	}
	r.writeHead(cp, work, count)
}

// writeHead prints the lines of a checkpoint with a text about its state.
func (r *logRun) writeHead(cp *cairn.Checkpoint, work *session.Work, count string) {
	who, message := cp.Author, cp.Message
	if !r.Global.Verbose {
		message = sessiontext.Message(r.ctx, r.sessions, message, work)
	}
	agents := work != nil && cp.Author == session.AuthorAgent && !r.f.oneline
	if work != nil {
		who, message = wording.Heading(cp.Author == session.AuthorAgent, who, message, work.Agent, work.Prompt)
	}
	if passed, ok := r.verdicts()[cp.ID]; ok {
		count += map[bool]string{true: ", passed", false: ", failed"}[passed]
	}
	switch from, imported := answers.From(cp); {
	case imported:
		count += ", imported"
	case from != nil:
		count += ", from " + from.String()
	}
	line := fmt.Sprintf("%.*s %.*s  %-14s  %s, %s", cli.ShortID, cp.ID, cli.ShortID, cp.Hash, wording.Ago(r.Console.Now().Sub(cp.When)), wording.Printable(who), count)
	switch {
	case work != nil:
		line += ": " + wording.FirstLine(message, max(8, sessiontext.Width-2-wording.Columns(line)))
	case message != cli.NoMessage:
		line += ": " + wording.Printable(message)
	}
	r.decoratedLine(cp.ID, line)
	if agents {
		r.WriteLines(sessiontext.Work(work, "    "))
		if r.Global.Verbose {
			r.WriteLines([]string{"    " + sessiontext.IDs(work)})
		}
	}
}
