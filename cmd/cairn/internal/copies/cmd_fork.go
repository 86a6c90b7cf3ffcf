package copies

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const forkManual = `cairn fork makes a second directory that goes on from here, with a store.

Usage:
    cairn fork DIR [--session S] [--git-worktree[=BRANCH]]
               [--with-ignored[=PATTERN]...] [--dry-run]
    cairn fork --remove DIR [--force] [--dry-run]

DIR gets the present state of the root, uncommitted work and all, which is
captured first. Its store begins with the whole history of this one:
checkpoints, sessions, operations, pins. cairn log, diff, undo and session work
there at once, and an agent can go on in DIR with a session of this directory.
What is done in one of the two never shows in the other. cairn compare DIR and
cairn merge DIR bring the best parts back.

The stores share their packs by hard link where the file system can do that, so
a fork takes little more room than its files; those are cloned or copied as by
cairn checkout. No cleaning of one store takes anything from the other.

DIR lies outside the root, or inside where the root ignores it. Nothing may be
there but an empty directory, and the directory above it exists. A session that
works in several directories is not forked.

.git does not come along. With --git-worktree, DIR is a linked work tree of the
git repository instead, on a new branch at the commit of HEAD. Files and index
are as here, so that git status says there what it says here. The root is the
top of the repository; git is in the middle of nothing; no submodule is checked
out. No hook runs.

What cairn setup --project has made for agents is in DIR also where git ignores
it, such as .claude/settings.local.json; the answer names it.

If the process is killed, DIR is as before or whole; the next fork to the same
DIR removes what was left.

cairn fork --remove DIR removes a fork of this directory: DIR and its store. Its
last state is captured first and kept here; cairn checkout with the hash in the
answer brings it back. Without --force the command refuses, with exit status 1,
if there are changes that cairn merge DIR would bring, or files in no checkpoint
that this directory does not have as they are. It lists both. Of a linked work
tree it removes what git has, too, and the branch, unless that has commits of
its own. It also refuses where git is in the middle of something there, where
HEAD has commits that are on no branch, and after git worktree lock.

Options:
    --session S
                the newest state of this session and of its sub-agents instead
                of the present one; cairn undo in DIR goes to the present one
    --git-worktree[=BRANCH]
                make DIR a linked work tree of git, on this new branch; it is
                cairn/NAME unless given, after the name of DIR, with a - for
                what git allows in no branch
    --with-ignored[=PATTERN]
                as for cairn checkout: bring node_modules and the like
    --dry-run   only capture, and say how many files and bytes it would be, or
                what would be lost
    --remove    remove the fork
    --force     with --remove: whatever is lost

The answer and the exit status are those of cairn checkout. With --json there
are also "root" and "store", "sessionID", "packsLinked" and "packsCopied", each
{"files", "bytes"}, "notForked", the sessions of several directories, "branch",
the new one of a linked work tree, "withoutGit", true if .git stayed behind, and
"agentFiles", the paths that cairn setup made and no checkpoint holds. After
--remove it is an entry of cairn forks with "lost": [{"path", "reason"}],
"notSaved": {"files", "bytes"}, "notSavedPaths", "saved" (a checkpoint),
"branchKept", the reason why the branch stays, and "dryRun".

Examples:
    cairn fork ../try-1
    cairn fork ../try-2 --with-ignored=node_modules
    cairn fork ../fix --git-worktree=fix-login
    cairn fork ../again --session 0193b2c4
    cairn fork --remove ../try-1
`

func (c *commands) forkCommand() *cobra.Command {
	var opt cairn.ForkOptions
	var remove, force bool
	cmd := c.Command(cli.Command{
		Use: "fork DIR", Short: "a second directory that goes on from here", Manual: forkManual,
		Args: cli.ArgCount(1, 1, "the DIR to make"), Complete: cli.CompleteFiles,
		Run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			paths, err := c.Paths(args)
			if err != nil {
				return err
			}
			if remove {
				return c.removeFork(ctx, cmd, paths[0], cairn.RemoveForkOptions{Force: force, DryRun: opt.DryRun, Env: c.Environ()})
			}
			if force {
				return c.Usage("knows --force with --remove alone")
			}
			opt.GitWorktree, opt.Env = cmd.Flags().Changed(gitWorktree), c.Environ()
			if opt.GitWorktree && opt.Branch == "" {
				return c.Usage("got an empty --git-worktree=")
			}
			if opt.Branch == defaultBranch {
				opt.Branch = ""
			}
			opt.WithIgnored, opt.Ignored = len(opt.Ignored) > 0, ignoredPatterns(opt.Ignored)
			return c.WithRepo(func(repo *cairn.Repo) error {
				if opt.Session != "" {
					if opt.Session, err = session.New(repo).Find(ctx, opt.Session); err != nil {
						return err
					}
				}
				res, err := answers.Fork(ctx, repo, filepath.Clean(paths[0]), opt)
				if err != nil {
					return err
				}
				return c.printFork(res)
			})
		},
	})
	cmd.Flags().StringVar(&opt.Session, cli.SessionFlag, "", "the newest state of this session")
	c.CompleteSessionFlag(cmd)
	cmd.Flags().StringVar(&opt.Branch, gitWorktree, "", "a linked work tree of git, on this new branch")
	cmd.Flags().Lookup(gitWorktree).NoOptDefVal = defaultBranch
	cli.CompleteFlag(cmd, gitWorktree)
	cmd.Flags().BoolVar(&remove, "remove", false, "remove the fork")
	cmd.Flags().BoolVar(&force, "force", false, "remove it whatever is lost")
	c.registerCopyFlags(cmd, &opt.CheckoutOptions)
	return cmd
}

const gitWorktree = "git-worktree"

// defaultBranch is the value of --git-worktree without a branch. No branch has a blank in its name.
const defaultBranch = " "

// removeFork removes a fork and prints the losses. A refusal prints that, too.
func (c *commands) removeFork(ctx context.Context, cmd *cobra.Command, dir string, opt cairn.RemoveForkOptions) error {
	for _, name := range []string{cli.SessionFlag, gitWorktree, "with-ignored"} {
		if cmd.Flags().Changed(name) {
			return c.Usage("knows no --%s with --remove", name)
		}
	}
	return c.WithRepo(func(repo *cairn.Repo) error {
		res, err := repo.RemoveFork(ctx, dir, opt)
		if res == nil || err != nil && !errors.Is(err, cairn.ErrUnmerged) {
			return err
		}
		return errors.Join(c.printRemovedFork(res), err)
	})
}

func (c *commands) printRemovedFork(res *cairn.RemovedFork) error {
	if c.Global.JSON {
		return c.WriteJSON(res)
	}
	c.ListReasons("not merged ", res.Lost)
	for _, path := range res.Paths {
		c.AnswerLine("in no checkpoint: " + cairn.Path(path).Quoted())
	}
	if err := c.Out.Flush(); err != nil {
		return err
	}
	if n := res.NotSaved.Files; n > len(res.Paths) {
		c.Console.Remark("%d more files are in no checkpoint", n-len(res.Paths))
	}
	switch {
	case res.DryRun:
		c.Console.Remark("nothing is removed yet: %d not merged, %s in no checkpoint", len(res.Lost), amountText(res.NotSaved))
	case res.Saved != "":
		c.Console.Remark("removed %s; cairn checkout %s DIR brings its files back", pathtext.Place(string(res.Root)), res.Saved[:cli.ShortID])
	}
	if text := branchText(res); text != "" {
		c.Console.Remark("%s", text)
	}
	return nil
}

// branchText says what happens to the branch of a linked work tree.
func branchText(res *cairn.RemovedFork) string {
	done := res.DryRun || res.Saved != ""
	switch {
	case res.Branch == "" || !done:
		return ""
	case res.BranchKept != "":
		return fmt.Sprintf("the branch %s stays: %s", res.Branch, res.BranchKept)
	case res.DryRun:
		return fmt.Sprintf("the branch %s goes, too", res.Branch)
	}
	return fmt.Sprintf("the branch %s is gone: it had no commits of its own", res.Branch)
}

// printFork prints what a fork made.
func (c *commands) printFork(res *cairn.ForkResult) error {
	if c.Global.JSON {
		err := c.WriteJSON(res)
		if err == nil && !res.Complete() {
			err = cli.ErrPartly
		}
		return err
	}
	if n := len(res.NotForked); n > 0 {
		c.Console.Remark("%s of several directories stay here alone", wording.Count(n, "session"))
	}
	if len(res.AgentFiles) > 0 {
		c.Console.Remark("the set-up of agents came along: %s", strings.Join(res.AgentFiles, ", "))
	}
	if res.Branch != "" {
		c.Console.Remark("a linked work tree of git, on the new branch %s", res.Branch)
	}
	if res.WithoutGit {
		c.Console.Remark("the fork has no .git; --git-worktree makes it a linked work tree of git")
	}
	return c.printCheckout(&res.CheckoutResult)
}
