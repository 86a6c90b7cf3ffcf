package copies

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const forksManual = `cairn forks lists the forks of this directory.

Usage:
    cairn forks

For each fork that cairn fork has made of this directory: its path, when it was
made and of which session, how many paths it changed since, and how many of
these changes cairn merge would bring here. The present state of each fork is
captured first. A fork whose directory is gone is listed as long as its store is
there; cairn fork --remove DIR removes that. Forks of a fork are listed in that
fork.

With --json:
    [{"root", "store", "time", "changed", "unmerged"}], and where there is
    something to say "sessionID", "missing", "branch" (of a linked work tree),
    "base" and "checkpoint" (the checkpoint that it began with, and its newest),
    "error", "test" (the newest result of a test of "checkpoint", as of cairn
    test --json).

Examples:
    cairn forks
    cairn -C ../try-1 forks
`

func (c *commands) forksCommand() *cobra.Command {
	return c.Command(cli.Command{
		Use: "forks", Short: "the forks of this directory and what each changed", Manual: forksManual, Args: cli.ArgCount(0, 0, "nothing"), Complete: cobra.NoFileCompletions,
		Run: func(ctx context.Context, _ *cobra.Command, _ []string) error {
			return c.WithRepo(func(repo *cairn.Repo) error {
				list, err := repo.Forks(ctx)
				if err != nil {
					return err
				}
				if c.Global.JSON {
					return c.WriteJSON(append([]cairn.ForkInfo{}, list...))
				}
				for i := range list {
					c.AnswerLine(c.forkText(&list[i]))
				}
				if len(list) == 0 {
					c.Console.Remark("no forks of %s", pathtext.Place(repo.Root()))
				}
				return nil
			})
		},
	})
}

// forkText is a fork in one line.
func (c *commands) forkText(f *cairn.ForkInfo) string {
	line := fmt.Sprintf("%s  %s", f.Root.Place(), wording.Ago(c.Console.Now().Sub(f.When)))
	if f.Branch != "" {
		line += ", on branch " + f.Branch
	}
	if f.Session != "" {
		line += ", of session " + f.Session
	}
	switch {
	case f.Error != "":
		return line + ": " + f.Error
	case f.Changed == 0:
		line += ": nothing changed"
	default:
		line += fmt.Sprintf(": %s changed, %d not merged", wording.Count(f.Changed, "path"), f.Unmerged)
	}
	if f.Test != nil {
		line += ", the test " + answers.Verdict(f.Test)
	}
	if f.Missing {
		line += " (the directory is gone)"
	}
	return line
}
