package look

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/child"
	"github.com/seed-fb9cbc17/cairn/internal/trial"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const bisectManual = `cairn bisect finds the first state at which a command fails.

Usage:
    cairn bisect [--again] [FROM [TO]] -- COMMAND [ARGUMENT...]

The states are those that this directory had from FROM to TO, in the order of
their times: every step of an agent, and your own checkpoints. TO is @ unless
given, FROM the newest checkpoint whose tests passed (@green), or the oldest if
there is none. The command has to pass at FROM and to fail at TO; both are
tried.

The command runs in the root of a scratch copy in the data directory, also where
cairn is called in a sub-directory, with stdin empty and its output on stderr.
This directory is not touched, and you can work on in it. Only files that differ
are written from one state to the next. What the command itself makes there
stays from one to the next, as after a build. Ignored files, such as installed
dependencies, are not in the copy: let the command make them. The copy is
removed at the end, and that of a process that was killed by the next run, or by
cairn gc, purge or seal.

A status of 0 means that the state passed, 125 that it cannot be tested (it does
not build, for instance), any other up to 124 that it failed. With 126 or more
the search ends without a result; git bisect run does so with 128 or more.

Every result is noted with its checkpoint, as cairn test notes it. So a search
that was interrupted goes on where it was, and one with other ends repeats
nothing. The results hold for exactly the same command in the root.

The answer is what cairn show says of the first state that fails: who, prompt
and tools, and the difference. If states before it cannot be tested, all that
could be the first are listed, and the status is 3.

Options:
    --again    run the command also where its result is noted

With --json the answer is {"good", "first", "candidates", "steps", "tested",
"reused"}: checkpoints as in cairn log, and three numbers.

Examples:
    cairn bisect -- go test ./...
    cairn bisect @~40 -- sh -c 'make || exit 125; ./check'
`

func (c *commands) bisectCommand() *cobra.Command {
	var again bool
	cmd := c.Command(cli.Command{
		Use: "bisect [FROM [TO]] -- COMMAND [ARGUMENT...]", Short: "find the first state at which a command fails", Manual: bisectManual,
		Args: cli.ArgCount(1, -1, "-- and a command"), Complete: c.CompleteBisect,
		Run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			n := cmd.ArgsLenAtDash()
			if n < 0 || n == len(args) {
				return c.Usage("wants -- and a command after it")
			}
			if n > 2 {
				return c.Usage("takes FROM and TO before the --, and nothing else")
			}
			return c.WithRepo(func(repo *cairn.Repo) error { return c.bisect(ctx, repo, args[:n], args[n:], again) })
		},
	})
	cmd.Flags().BoolVar(&again, "again", false, "run the command also where its result is noted")
	return cmd
}

func (c *commands) bisect(ctx context.Context, repo *cairn.Repo, ends, args []string, again bool) (err error) {
	steps, err := bisectSteps(ctx, repo, ends)
	if err != nil {
		return err
	}
	opt, err := c.Options()
	if err != nil {
		return err
	}
	signals := child.NewRelay(func() (*os.File, error) { return os.Open("/dev/tty") })
	defer signals.Stop()
	runner := &trial.Runner{Repo: repo, Command: args, Scratch: trial.In(opt.DataDir), Again: again}
	defer func() { err = errors.Join(err, runner.Close()) }()
	runner.Run = func(ctx context.Context, dir string, cp *cairn.Checkpoint) (int, error) {
		c.Console.Remark("trying %.*s", cli.ShortID, cp.ID)
		cmd, err := child.New(args, dir, nil, c.Console.Writer(), c.Console.Writer())
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return 0, c.CannotRun(args[0], err)
		}
		return signals.Wait(cmd), nil
	}
	found, err := trial.Bisect(ctx, steps, runner.Test)
	if err != nil {
		return err
	}
	found.Tested, found.Reused = runner.Tested, runner.Reused
	return c.printBisected(ctx, repo, found)
}

// bisectSteps lists the states between the ends that a person has given.
func bisectSteps(ctx context.Context, repo *cairn.Repo, ends []string) ([]*cairn.Checkpoint, error) {
	last := "@"
	if len(ends) == 2 {
		last = ends[1]
	}
	to, err := repo.Lookup(ctx, last)
	if err != nil {
		return nil, err
	}
	var from *cairn.Checkpoint
	if len(ends) > 0 {
		from, err = repo.Lookup(ctx, ends[0])
	} else {
		from, err = newestGreen(ctx, repo)
	}
	if err != nil {
		return nil, err
	}
	return trial.Steps(ctx, repo, from, to)
}

func (c *commands) printBisected(ctx context.Context, repo *cairn.Repo, found *trial.Result) error {
	if c.Global.JSON {
		if err := c.WriteJSON(found); err != nil {
			return err
		}
	} else if found.First != nil {
		shown, err := answers.Show(ctx, repo, session.New(repo), found.First.ID, nil)
		if err != nil {
			return err
		}
		if err := c.printShown(ctx, repo, &showFlags{patchFlags: patchFlags{patch: true}}, shown, cairn.DiffOptions{}); err != nil {
			return err
		}
	}
	c.Console.Remark("%s tried, %s noted before, of %s", wording.Count(found.Tested, "state"), wording.Count(found.Reused, "result"), wording.Count(found.Steps, "state"))
	if found.First != nil {
		return nil
	}
	if !c.Global.JSON {
		all, known := session.New(repo), make(session.WorkCache)
		for _, cp := range found.Candidates {
			c.AnswerLine(cp.ID[:cli.ShortID] + "  " + c.AboutCheckpoint(ctx, all, cp, known))
		}
	}
	c.Console.Remark("one of %s is the first; those before the last cannot be tested", wording.Count(len(found.Candidates), "state"))
	return cli.ErrPartly
}
