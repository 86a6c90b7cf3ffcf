package look

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/child"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/trial"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const testManual = `cairn test runs a command and notes how it ended with the present state, or
lists what is noted.

Usage:
    cairn test [--] COMMAND [ARGUMENT...]
    cairn test

A checkpoint is taken first. The command runs in this directory, with the
terminal, stdin, stdout and stderr as if started without cairn. Its exit status
is noted with the checkpoint once it has ended: 0 means that the state passed,
125 that it cannot be tested, any other up to 124 that it failed. A command that
was interrupted or killed, or could not be run, notes nothing. If a file of the
checkpoint is changed or deleted while the command runs, nothing is noted
either, and the file is named: the result would be that of another state. Files
that are made meanwhile do not matter. A later result of the same command in the
same directory for the same state takes the place of the earlier one.

@green is the newest checkpoint whose tests passed: all commands whose result is
noted there, at least one. It stands wherever a HASH does. cairn log marks the
checkpoints with a result, and cairn bisect notes its results in the same way.
Results keep no checkpoint alive, and cairn push leaves them here.

Without a command there is one line per result, the newest first: whether it
passed, how long ago, the checkpoint, and the command. With --json the list is
an array of {"checkpoint", "command", "workDir", "status", "time",
"milliseconds"}; without "workDir" it ran in the root.

Exit status: that of the command; 128 and the number of the signal that killed
it; 126 if it cannot be run, 127 if it is not there.

Examples:
    cairn test -- go test ./...
    cairn restore @green
`

func (c *commands) testCommand() *cobra.Command {
	cmd := c.Command(cli.Command{
		Use: "test [--] [COMMAND [ARGUMENT...]]", Short: "run a test and note its result", Manual: testManual,
		Args: cli.ArgCount(0, -1, "a command, or nothing"), Complete: cli.CompleteCommand,
		Run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.WithRepo(func(repo *cairn.Repo) error { return c.listTests(ctx, repo) })
			}
			if c.Global.JSON {
				return c.Usage("has no --json form with a command: the answer is the command's")
			}
			return c.WithRepo(func(repo *cairn.Repo) error { return c.test(ctx, repo, args) })
		},
	})
	cmd.Flags().SetInterspersed(false) // flags after the command are the command's
	return cmd
}

// test runs a command on the present state.
func (c *commands) test(ctx context.Context, repo *cairn.Repo, args []string) error {
	dir, err := c.ChildDir()
	if err != nil {
		return c.CannotRun(args[0], err)
	}
	workDir, err := c.workDirIn(repo)
	if err != nil {
		return c.CannotRun(args[0], err)
	}
	before, err := repo.Track(ctx, cairn.TrackOptions{})
	if err != nil {
		return fmt.Errorf("the command was not started: %w", err)
	}
	signals := child.NewRelay(func() (*os.File, error) { return os.Open("/dev/tty") })
	defer signals.Stop()
	cmd, err := child.New(args, dir, c.Stdin, c.Stdout, c.Console.Writer())
	if err != nil {
		return c.CannotRun(args[0], err)
	}
	c.Console.Clear()
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return c.CannotRun(args[0], err)
	}
	status := signals.Wait(cmd)
	if ctx.Err() != nil { // many a command makes a failure of an interrupt
		c.Console.Remark("no result is noted: interrupted")
		return endedWith(status)
	}
	if status < 0 || status >= child.CannotRun {
		c.Console.Remark("no result is noted: the command ended with status %d", status)
		return cli.ChildStatus(status)
	}
	result := cairn.TestResult{
		Checkpoint: before.Checkpoint, Command: args, WorkDir: workDir, Status: status, When: time.Now(),
		Milliseconds: time.Since(began).Milliseconds(),
	}
	changed, err := trial.Note(context.WithoutCancel(ctx), repo, result)
	if err != nil {
		return fmt.Errorf("the command ended with status %d, which is not noted: %w", status, err)
	}
	if len(changed) > 0 {
		c.Console.Remark("no result is noted: %s changed while the command ran%s", wording.Count(len(changed), "file"), wording.FirstPaths(changedWidth, changed, pathtext.Quote))
		return endedWith(status)
	}
	c.Console.Remark("checkpoint %.*s %s", cli.ShortID, before.Checkpoint, answers.Verdict(&result))
	return endedWith(status)
}

// workDirIn is the directory that a command runs in, from the root; "" is the root.
func (c *commands) workDirIn(repo *cairn.Repo) (cairn.Path, error) {
	dir, err := c.WorkDir()
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(repo.Root(), dir)
	if rel == "." {
		return "", err
	}
	return cairn.Path(filepath.ToSlash(rel)), err
}

// endedWith is the end of a command with the status of another one.
func endedWith(status int) error {
	if status == cli.ExitDone {
		return nil
	}
	return cli.ChildStatus(status)
}

// changedWidth is the number of characters for the paths that changed.
const changedWidth = 60

func (c *commands) listTests(ctx context.Context, repo *cairn.Repo) error {
	all, err := repo.TestResults(ctx)
	if err != nil {
		return err
	}
	slices.Reverse(all)
	if c.Global.JSON {
		return c.WriteJSON(append([]cairn.TestResult{}, all...))
	}
	for i := range all {
		t := &all[i]
		fmt.Fprintf(c.Out, "%-24s  %-14s  %.*s  %s\n", answers.Verdict(t), wording.Ago(c.Console.Now().Sub(t.When)), cli.ShortID, t.Checkpoint, testText(t))
	}
	if len(all) == 0 {
		c.Console.Remark("no test was noted yet")
	}
	return nil
}

// testText is the command of a test, with the directory that it ran in where that is not the root.
func testText(t *cairn.TestResult) string {
	text := commandText(t.Command)
	if t.WorkDir != "" {
		text = "cd " + wording.ShellWord(string(t.WorkDir)) + " && " + text
	}
	return text
}

// commandText is a command as a shell reads it.
func commandText(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = wording.ShellWord(arg)
	}
	return wording.Printable(strings.Join(words, " "))
}

// verdicts tells whether the tests of checkpoints passed. A log is there without results that cannot
// be read.
func (r *logRun) verdicts() map[string]bool {
	if r.tested == nil {
		all, err := r.repo.TestResults(r.ctx)
		if err != nil {
			all = nil
		}
		r.tested = cairn.TestVerdicts(all)
	}
	return r.tested
}

// newestGreen finds the checkpoint from which a search begins unless one is given; nil = the oldest.
func newestGreen(ctx context.Context, repo *cairn.Repo) (*cairn.Checkpoint, error) {
	c, err := repo.Lookup(ctx, "@green")
	if errors.Is(err, cairn.ErrNotFound) {
		return nil, nil
	}
	return c, err
}
