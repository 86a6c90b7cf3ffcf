package copies

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/best"
	"github.com/seed-fb9cbc17/cairn/internal/child"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const bestManual = `cairn best runs the same command in several forks side by side, and ranks what
comes out: four tries of an agent with one prompt, for instance.

Usage:
    cairn best N [--test COMMAND] [--jobs J] [--dir DIR] [--session-free]
               [--git-worktree] [--with-ignored[=PATTERN]...]
               -- COMMAND [ARGUMENT...]

N forks of this directory are made as by cairn fork, uncommitted work and all.
They are called NAME-1 to NAME-N after the directory, and lie beside it. Then
the command runs in each of them, with checkpoints around it as by cairn run.
This directory is not touched, and you can work on in it.

The command has no terminal, and its stdin is empty: tell an agent not to ask.
Its output goes to a file beside the fork, NAME-K.log, or another name if that
is taken; the answer names it. CAIRN_BEST is the number of the fork, and
CAIRN_BEST_OF that of all, so that a command can do something else in each.

The answer is a table with the best fork first: those whose command ended with 0
and whose test passed; then those whose test passed; then the others. Among
equals, fewer changed paths are better, then fewer changed lines; a fork without
changes is last. The forks stay: cairn compare shows them side by side, cairn
merge DIR brings one here or some of it, cairn fork --remove DIR removes one.

If a fork cannot be made, no command starts, and the error names the forks that
are there. Ctrl-C ends all commands with the processes that they have started;
the forks stay, and cairn forks lists them.

Options:
    --test COMMAND
                run this in each fork afterwards, by the shell. The result is
                noted in the fork as by cairn test
    --jobs J    how many commands at a time; the number of processors unless
                given
    --dir DIR   the directory in which the forks are made; it exists
    --session-free
                keep no session of the command: for an agent whose hooks take
                checkpoints themselves. One is taken at the end
    --git-worktree
                make each fork a linked work tree of git, on the new branch
                cairn/NAME-K, so that the command can use git there
    --with-ignored[=PATTERN]
                as for cairn fork: bring node_modules and the like

With --json:
    {"root", "command", "forks": [{"number", "root", "log", "sessionID", "base",
    "checkpoint", "status", "test", "note", "files", "additions", "deletions",
    "error"}]}, the best first; "test" is an entry of cairn test --json, and
    "note" says why it is not noted.

Exit status: 0 if a command ended with 0 and its test passed, 3 if none did, 127
if there is no such command, in which case no fork is made.

Examples:
    cairn best 4 --test 'go test ./...' -- claude -p 'make the tests pass'
    cairn best 2 --with-ignored=node_modules -- sh -c './agent-$CAIRN_BEST'
`

// maxForks bounds the N of cairn best.
const maxForks = 100

// bestFlags are the flags of cairn best.
type bestFlags struct {
	test, dir string
	jobs      int
	free, git bool
	ignored   []string
}

func (c *commands) bestCommand() *cobra.Command {
	var f bestFlags
	cmd := c.Command(cli.Command{
		Use: "best N -- COMMAND [ARGUMENT...]", Short: "a command in N forks side by side, ranked", Manual: bestManual,
		Args: cli.ArgCount(1, -1, "N, -- and a command"), Complete: cli.CompleteCommand,
		Run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); n != 1 || len(args) < 2 {
				return c.Usage("wants the number of forks, -- and a command after it")
			}
			opt, err := c.bestOptions(cmd, &f, args)
			if err != nil {
				return err
			}
			if _, err := child.New(opt.Command, "", nil, nil, nil); err != nil {
				return c.CannotRun(opt.Command[0], err)
			}
			return c.WithRepo(func(repo *cairn.Repo) error { return c.best(ctx, repo, opt) })
		},
	})
	cmd.Flags().StringVar(&f.test, "test", "", "run this in each fork afterwards")
	cmd.Flags().IntVar(&f.jobs, "jobs", runtime.NumCPU(), "how many commands at a time")
	cmd.Flags().StringVar(&f.dir, "dir", "", "the directory in which the forks are made")
	cmd.Flags().BoolVar(&f.free, "session-free", false, "keep no session of the command")
	cmd.Flags().BoolVar(&f.git, gitWorktree, false, "make each fork a linked work tree of git")
	c.registerIgnored(cmd, &f.ignored)
	for _, name := range []string{"test", "jobs"} {
		cli.CompleteFlag(cmd, name)
	}
	return cmd
}

// bestOptions checks the command line.
func (c *commands) bestOptions(cmd *cobra.Command, f *bestFlags, args []string) (*best.Options, error) {
	n, err := strconv.Atoi(args[0])
	switch {
	case err != nil || n < 1 || n > maxForks:
		return nil, c.Usage("cannot make %s forks: name a number from 1 to %d", wording.ShellWord(args[0]), maxForks)
	case f.jobs < 1:
		return nil, c.Usage("cannot run %d commands at a time", f.jobs)
	case cmd.Flags().Changed("test") && strings.TrimSpace(f.test) == "":
		return nil, c.Usage("got an empty --test")
	}
	opt := &best.Options{
		Count: n, Jobs: f.jobs, Command: args[1:], NoSession: f.free, GitWorktree: f.git, Environ: c.Environ(),
		WithIgnored: len(f.ignored) > 0, Ignored: ignoredPatterns(f.ignored), Open: c.openFork,
		Say:  func(text string) { c.Console.Remark("%s", text) },
		Warn: func(text string) { c.Warn([]string{text}) },
	}
	if f.test != "" {
		opt.Test = shellCommand(f.test)
	}
	if cmd.Flags().Changed("dir") {
		paths, err := c.Paths([]string{f.dir})
		if err != nil {
			return nil, err
		}
		opt.Below = filepath.Clean(paths[0])
	}
	return opt, nil
}

// shellCommand is a command line as the shell of the system runs it.
func shellCommand(line string) []string {
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/c", line}
	}
	return []string{"sh", "-c", line}
}

// openFork opens the repository of a fork with the settings of that one. Calls may be concurrent.
func (c *commands) openFork(root string) (*cairn.Repo, error) {
	opt, err := c.LastOptions.ForRoot(root)
	if err != nil {
		return nil, err
	}
	opt.DataDir, opt.LockTimeout, opt.ForRoot = c.LastOptions.DataDir, c.LastOptions.LockTimeout, c.LastOptions.ForRoot
	opt.MustExist, opt.Progress = true, nil
	return cairn.Open(opt)
}

func (c *commands) best(ctx context.Context, repo *cairn.Repo, opt *best.Options) error {
	res, err := best.Run(ctx, repo, opt)
	if err != nil {
		return err
	}
	if c.Global.JSON {
		err = c.WriteJSON(res)
	} else {
		err = c.printBest(res)
	}
	if err == nil && !res.Forks[0].Good() {
		err = cli.ErrPartly
	}
	return err
}

// printBest prints the table, and the next steps beside it.
func (c *commands) printBest(res *best.Result) error {
	table := tabwriter.NewWriter(c.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "FORK\tEXIT\tTEST\tFILES\tLINES\tOUTPUT")
	words := make([]string, len(res.Forks))
	for i := range res.Forks {
		a := &res.Forks[i]
		test := "-"
		if a.Test != nil {
			test = answers.Verdict(a.Test)
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%d\t+%d -%d\t%s\n", a.Root.Place(), a.Status, test, a.Files, a.Additions, a.Deletions, a.Log.Place())
		words[i] = wording.ShellWord(string(a.Root))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if err := c.Out.Flush(); err != nil { // before the remarks, which go elsewhere
		return err
	}
	for i := range res.Forks {
		if note := res.Forks[i].Note; note != "" {
			c.Console.Remark("%s: the result is not noted: %s", res.Forks[i].Root.Place(), note)
		}
	}
	c.Console.Remark("to see them side by side: cairn compare %s", strings.Join(words, " "))
	c.Console.Remark("to bring the first one here: cairn merge %s", words[0])
	c.Console.Remark("to remove one: cairn fork --remove %s", words[len(words)-1])
	return nil
}
