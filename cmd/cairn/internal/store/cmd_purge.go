package store

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const purgeManual = `cairn purge takes the contents of files out of the whole history.

Usage:
    cairn purge PATH...
    cairn purge --lift PATH...
    cairn purge --secrets [--dry-run] [PATH...]

Every checkpoint, operation, session and pin that holds a PATH, or something
below it, is rewritten without it, and the store is cleaned to the last byte.
The checkpoints become partial: the path counts as present, but not captured, so
that going back to them leaves it alone. They get new ids; the old ones still
find them. Contents that no checkpoint needs go as well, also where none holds
a PATH: those of a deleted session, for instance. This cannot be undone.

The file in the directory itself is not touched. It is not captured any more,
until --lift says so. Copies of the same contents under other paths stay, and
that is said. So does what was exported or pushed elsewhere. Forks and other
work trees of the git repository have stores of their own: those that hold the
same contents are named, with the command to run there.

A PATH outside the root is taken out of what was saved for cairn undo --outside.

With --secrets all contents in the history are looked at for tokens, private
keys and passwords, by the rules of secret_rules (see cairn help config), and
those that hold one are taken out. Other contents of the same files stay. Each
file, rule and number of checkpoints is listed, never the secret. A file that
holds such contents still is not captured until --lift, unless secrets is skip
or refuse. PATHs narrow it to these files, and each is one that a checkpoint
holds.

Options:
    --secrets  take out contents that hold secrets
    --dry-run  with --secrets: list them only
    --lift     let purged paths be captured again; what was purged stays gone

With --json:
    {"paths", "checkpoints", "freed", "elsewhere"}: the paths that were found,
    the ids of the checkpoints that became partial, bytes, and the ids of
    contents that other paths hold, too; "besides": [{"root", "store",
    "missing", "unneeded"}], if there are any, the stores that hold the same,
    and whether none of their checkpoints needs it; "notFound", if there are
    any, the PATHs that no checkpoint holds. With --secrets also
    "findings": [{"path", "rule", "line", "checkpoints"}], and "uncaptured",
    the paths that are not captured until --lift.

Exit status: 3 if other paths or stores still hold the contents, or if only some
of the PATHs were found; 4 if none was.
`

func (c *commands) purgeCommand() *cobra.Command {
	var lift, secrets, dryRun bool
	cmd := c.Command(cli.Command{
		Use: "purge PATH... | --secrets", Short: "take files out of the whole history", Manual: purgeManual,
		Args: cli.ArgCount(0, -1, ""), Complete: cli.CompleteFiles,
		Run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && !secrets:
				return c.Usage("wants at least one PATH, or --secrets")
			case lift && secrets:
				return c.Usage("cannot use --lift with --secrets: it takes the paths that --secrets lists")
			case dryRun && !secrets:
				return c.Usage("wants --secrets with --dry-run")
			}
			paths, err := c.Paths(args)
			if err != nil {
				return err
			}
			return c.WithRepo(func(repo *cairn.Repo) error {
				if secrets {
					return c.purgeSecrets(ctx, repo, cairn.PurgeSecretsOptions{Paths: paths, DryRun: dryRun})
				}
				if lift {
					return repo.Unpurge(ctx, paths)
				}
				c.sweepCopies()
				done, err := repo.Purge(ctx, paths)
				if err != nil {
					return err
				}
				return c.printPurged(done, done, done.Paths...)
			})
		},
	})
	cmd.Flags().BoolVar(&lift, "lift", false, "let purged paths be captured again")
	cmd.Flags().BoolVar(&secrets, "secrets", false, "take out contents that hold secrets")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "with --secrets: list them only")
	return cmd
}

func (c *commands) purgeSecrets(ctx context.Context, repo *cairn.Repo, opt cairn.PurgeSecretsOptions) error {
	if !opt.DryRun {
		c.sweepCopies()
	}
	done, err := repo.PurgeSecrets(ctx, opt)
	if err != nil {
		return err
	}
	if !c.Global.JSON {
		for _, f := range done.Findings {
			place := cairn.Secret{Path: f.Path, Rule: f.Rule, Line: f.Line}
			fmt.Fprintf(c.Out, "%s in %s\n", place.String(), wording.Count(f.Checkpoints, "checkpoint"))
		}
	}
	switch {
	case len(done.Findings) == 0:
		c.Console.Remark("no secrets found")
		if done.Freed > 0 {
			c.Console.Remark("freed %s of contents that no checkpoint needs", wording.Size(done.Freed))
		}
	case opt.DryRun:
		c.Console.Remark("nothing was changed")
	}
	if opt.DryRun || len(done.Findings) == 0 {
		return c.printFound(done)
	}
	for _, path := range done.Uncaptured {
		c.Console.Remark("%s still holds it and is not captured until %s", pathtext.Quote(path), c.liftText(repo.Root(), path))
	}
	return c.printPurged(&done.PurgeResult, done, "--secrets")
}

// liftText is the command that lets a path be captured again, as it is typed in the current directory.
func (c *commands) liftText(root, path string) string {
	typed := cli.AbsolutePath(root, filepath.FromSlash(path))
	if dir, err := c.WorkDir(); err == nil {
		if short, err := filepath.Rel(dir, typed); err == nil {
			typed = short
		}
	}
	return "cairn purge --lift " + wording.ShellWord(typed)
}

// printFound ends an answer after which nothing was purged.
func (c *commands) printFound(done *cairn.PurgeSecretsResult) (err error) {
	if c.Global.JSON {
		err = c.WriteJSON(done)
	}
	if c.sayNotFound(done.NotFound); err == nil && len(done.NotFound) > 0 {
		err = cli.ErrPartly
	}
	return err
}

func (c *commands) sayNotFound(paths []string) {
	for _, path := range paths {
		c.Console.Remark("no checkpoint holds %s", pathtext.Quote(path))
	}
}

// printPurged prints what was purged. answer is the whole answer for --json, args are the arguments of a purge of
// the same in another directory.
func (c *commands) printPurged(done *cairn.PurgeResult, answer any, args ...string) (err error) {
	if c.Global.JSON {
		err = c.WriteJSON(answer)
	} else {
		if !c.Global.Quiet {
			c.ListPaths("purged ", done.Paths)
			c.ListPaths("partial ", done.Checkpoints)
		}
	}
	c.Console.Remark("freed %s; what was exported or pushed is not touched", wording.Size(done.Freed))
	if n := len(done.Elsewhere); n > 0 {
		c.Console.Remark("the contents of %s are still stored, because other paths hold the same", wording.Count(n, "file"))
	}
	c.sayNotFound(done.NotFound)
	for i := range done.Besides {
		c.Console.Remark("%s", besidesText(&done.Besides[i], args))
	}
	if err == nil && len(done.Elsewhere)+len(done.Besides)+len(done.NotFound) > 0 {
		err = cli.ErrPartly
	}
	return err
}

// besidesText names a store that holds what was purged, and the next step.
func besidesText(h *cairn.PurgeHolder, args []string) string {
	text := "the store of " + h.Root.Place() + " holds the same contents"
	if h.Missing {
		return text + ", and the directory is gone; cairn doctor --remove-abandoned removes such stores"
	}
	command := "cairn -C " + wording.ShellWord(string(h.Root))
	if h.Unneeded {
		return text + ", and none of its checkpoints needs them; " + command + " gc --thorough drops them"
	}
	command += " purge"
	for _, arg := range args {
		command += " " + wording.ShellWord(arg)
	}
	return text + "; " + command + " takes them out there"
}
