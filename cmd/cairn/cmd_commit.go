package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const commitManual = `cairn commit makes commits in your git repository of what an agent changed, and
of nothing else.

Usage:
    cairn commit [SESSION] [TURN | FROM..TO]... [--squash] [--dry-run]

Each turn becomes a commit, those of the session that was changed last unless a
SESSION is named. Turns are numbered from 1. Your own lines stay uncommitted,
also in the same files, and what you have staged stays staged. No file of the
work tree is written. Turns that HEAD has already are skipped.

Your git makes the commits: with your hooks, signature, identity and filters. If
a turn builds on lines that HEAD lacks, nothing is committed and the path is
named. Nothing is committed during a merge, rebase, cherry-pick or bisect. If a
hook fails, its commit is not made; the commits before it stay.

Options:
    --session SESSION    the session, where it is no argument
    --squash             one commit for all turns
    -m, --message TEXT   instead of the prompt
    --trailers           name session, turn and agent at the end of the message
    -n, --dry-run        only list the commits with their files
    --amend              refused: git commit --amend joins two commits later

With --json the answer is {"sessionID", "branch", "dryRun", "commits",
"skippedTurns", "kept"}. The exit status is 3 if paths were left out, such as
those of submodules and ignored ones.

Examples:
    cairn commit --dry-run
    cairn commit 2..4 --squash -m 'parser: accept tabs'
`

type commitFlags struct {
	session, message                string
	squash, trailers, dryRun, amend bool
}

func (c *cli) commitCommand() *cobra.Command {
	var f commitFlags
	cmd := c.command(command{
		use: "commit [SESSION] [TURN]...", short: "commit what an agent changed to git", manual: commitManual,
		args: argCount(0, -1, "SESSION and TURN"), complete: cobra.NoFileCompletions,
		run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			if f.amend {
				return c.usage("has no --amend: the agent's lines would become part of another commit; git commit --amend joins the two afterwards")
			}
			return c.commitTurns(ctx, &f, args)
		},
	})
	flags := cmd.Flags()
	flags.StringVar(&f.session, "session", "", "the session")
	flags.StringVarP(&f.message, "message", "m", "", "instead of the prompt")
	flags.BoolVar(&f.squash, "squash", false, "one commit for all turns")
	flags.BoolVar(&f.trailers, "trailers", false, "name session, turn and agent")
	flags.BoolVarP(&f.dryRun, "dry-run", "n", false, "only list the commits")
	flags.BoolVar(&f.amend, "amend", false, "refused")
	completeFlag(cmd, "session")
	completeFlag(cmd, "message")
	return cmd
}

// turnRange reads TURN or FROM..TO.
func turnRange(text string) (turns []int, ok bool) {
	first, last, isRange := strings.Cut(text, "..")
	if !isRange {
		last = first
	}
	from, err := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if err != nil || err2 != nil || from < 1 || to < from || to-from > 1<<16 {
		return nil, false
	}
	for n := from; n <= to; n++ {
		turns = append(turns, n)
	}
	return turns, true
}

func (c *cli) commitTurns(ctx context.Context, f *commitFlags, args []string) error {
	var turns []int
	for _, arg := range args {
		list, ok := turnRange(arg)
		switch {
		case ok:
			turns = append(turns, list...)
		case f.session == "":
			f.session = arg
		default:
			return c.usage("cannot use %s: want TURN or FROM..TO", wording.ShellWord(arg))
		}
	}
	if f.session == "" {
		f.session = session.Newest
	}
	return c.withRepo(func(repo *cairn.Repo) error {
		all := session.New(repo)
		id, err := all.Find(ctx, f.session)
		if err != nil {
			return err
		}
		done, err := all.CommitTurns(ctx, id, turns, session.GitCommitOptions{
			Message: f.message, Squash: f.squash, Trailers: f.trailers, DryRun: f.dryRun, Env: os.Environ(),
		})
		if done == nil {
			return err
		}
		return errors.Join(c.printCommits(done), err)
	})
}

func (c *cli) printCommits(done *session.GitCommits) error {
	var err error
	if c.global.json {
		err = c.writeJSON(done)
	} else {
		c.writeCommits(done)
	}
	if err == nil && len(done.LeftOut) > 0 {
		err = errPartly
	}
	return err
}

func (c *cli) writeCommits(done *session.GitCommits) {
	if done.Branch == "" && len(done.Commits) > 0 {
		c.console.Remark("HEAD is detached: no branch has the commits")
	}
	for _, one := range done.Commits {
		subject, _, _ := strings.Cut(one.Message, "\n")
		name := "would commit"
		if one.ID != "" {
			name = one.ID[:min(len(one.ID), 10)]
		}
		c.answerLine(name + " " + wording.Printable(subject))
		for _, file := range one.Files {
			counts := fmt.Sprintf("+%d -%d", file.Additions, file.Deletions)
			if file.Binary {
				counts = "binary"
			}
			c.answerLine("    " + file.Path.Quoted() + " " + counts)
		}
		if said := strings.TrimSpace(one.Output); said != "" {
			c.console.Remark("%s", said)
		}
	}
	for _, turn := range done.Turns {
		c.answerLine(fmt.Sprintf("turn %d: %s", turn.Turn, wording.Printable(turn.Reason)))
	}
	c.listReasons("not committed: ", done.LeftOut)
}
