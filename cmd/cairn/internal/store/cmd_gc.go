package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const gcManual = `cairn gc drops old checkpoints and puts the store in order.

Usage:
    cairn gc [--dry-run] [--thorough]
    cairn gc --remote [REMOTE] [--dry-run]
    cairn gc --remote [REMOTE] --machine NAME [--yes]

A line of checkpoints, of a day or of a session, goes when its last one is older
than max_age (7 days); operations go one by one. Beyond max_count checkpoints,
and while the store is larger than max_bytes, the oldest go first, also at the
beginning of a day or session that goes on. Pinned checkpoints stay, and so do
the newest keep_last (20; with 0 only the newest one). cairn config says what is
in force. A track that finds the store full makes room in the same way.

With the setting keep, old checkpoints of a day or session are thinned:

    keep = { all = "24h", hourly = "7d", daily = "90d" }

Every checkpoint is kept for a day, then the newest one of each hour, then the
newest one of each day, in UTC. The files of the others go. Their ids, prompts
and places stay, and a command that needs their files names the nearest one that
was kept. The head of a line, pins, tracks with -m, states of operations that
undo knows, the newest state whose tests passed and keep_last stay whole. A line
lives as long as the last rule holds, or max_age if that is longer.

The checkpoints that stay are packed, with the help of git where it is
installed. No other cairn waits for a cleaning: one that needs the store stops
it, and the next cleaning does the rest. A cleaning that is short of disk space
stops in time.

A track begins the same in the background, once an hour at most, unless
background = false is set.

With --remote nothing goes here. The lines of this store go from REMOTE, or from
the remote of cairn push, which the store itself has dropped or a purge has
rewritten: a later push does not bring them back, and those of other machines
stay. A line of which a repair has lost a part here stays, too. The answer has
the names of those that go.

With --machine everything goes that another store of this project has pushed,
such as that of a machine that is no more. Without --yes that is only listed.
What was fetched from it stays here. If the machine pushes again, its lines come
back.

Options:
    --dry-run   say what would go, and change nothing; with keep also what each
                of its rules keeps
    --remote    clean a remote
    --machine NAME
                with --remote: the store by its id, or by its machine's name
                where it is the only one of that name (cairn fetch --list)
    --yes       with --machine: drop what is listed
    --thorough  drop every byte that nothing needs, however much has to be
                copied for it
    --background
                clean only if it is time, and say nothing

With --json:
    {"lines", "shortened", "checkpoints", "kept", "thinned", "freed", "size",
    "peak", "packs", "overBudget", "pins", "incomplete", "blocked"}: names of
    the lines that went, and of those whose beginning went, numbers of
    checkpoints, bytes. The size is that of all files of the store, as in cairn
    status and cairn du. A dry run with the setting keep has "keep": [{"rule",
    "checkpoints", "thinned", "bytes"}], the number of checkpoints that a rule
    keeps and that it thins, and the bytes that no rule before it keeps.
`

func (c *commands) gcCommand() *cobra.Command {
	var opt cairn.CleanOptions
	var background, remote, yes bool
	var machine string
	cmd := c.Command(cli.Command{
		Use: "gc [--dry-run]", Short: "drop old checkpoints, pack the others", Manual: gcManual,
		Args: cli.ArgCount(0, 1, "no arguments but a REMOTE"), Complete: c.FirstOnly(cli.CompleteFiles),
		Run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			switch {
			case remote && (opt.Thorough || background):
				return c.Usage("--remote goes with --dry-run and --machine alone")
			case machine != "" && !remote || yes && (machine == "" || opt.DryRun):
				return c.Usage("--machine goes with --remote, and --yes with --machine")
			case machine != "":
				return c.WithRemote(args, func(repo *cairn.Repo, where string) error { return c.cleanMachine(ctx, repo, where, machine, !yes) })
			case remote:
				return c.WithRemote(args, func(repo *cairn.Repo, where string) error { return c.cleanRemote(ctx, repo, where, opt.DryRun) })
			case len(args) > 0:
				return c.Usage("takes a REMOTE only with --remote")
			}
			c.LeaveSealed = background
			return c.WithRepo(func(repo *cairn.Repo) error {
				opt.Retention = c.Retention(c.Config)
				if !opt.DryRun {
					c.sweepCopies()
				}
				if background {
					ctx, cancel := context.WithTimeout(ctx, cli.BackgroundLimit)
					defer cancel()
					_, err := repo.CleanIfDue(ctx, opt.Retention, cli.CleanEvery)
					return err
				}
				done, err := repo.Clean(ctx, opt)
				if err != nil {
					return err
				}
				return c.printCleaned(done, opt.DryRun)
			})
		},
	})
	cmd.Flags().BoolVar(&opt.DryRun, "dry-run", false, "change nothing")
	cmd.Flags().BoolVar(&opt.Thorough, "thorough", false, "drop every byte that nothing needs")
	cmd.Flags().BoolVar(&remote, "remote", false, "clean a remote")
	cmd.Flags().StringVar(&machine, "machine", "", "drop what another machine has pushed")
	cmd.Flags().BoolVar(&yes, "yes", false, "drop it, and not only list it")
	cmd.Flags().BoolVar(&background, "background", false, "only if it is time")
	return cmd
}

func (c *commands) cleanRemote(ctx context.Context, repo *cairn.Repo, where string, dryRun bool) error {
	lines, err := repo.CleanRemote(ctx, where, dryRun)
	if err != nil {
		return err
	}
	return c.PrintLines(lines, "nothing to drop: the remote has no line of this store that is not here")
}

func (c *commands) cleanMachine(ctx context.Context, repo *cairn.Repo, where, machine string, dryRun bool) error {
	refs, err := repo.CleanRemoteMachine(ctx, where, machine, dryRun)
	if err != nil {
		return err
	}
	if err := c.PrintLines(refs, "nothing to drop"); err != nil {
		return err
	}
	if dryRun && len(refs) > 0 {
		c.Console.Remark("nothing is dropped: --yes drops these, and what other machines fetched stays with them")
	}
	return nil
}

// errBlocked ends a cleaning that could drop nothing.
var errBlocked = errors.New("nothing was dropped, because the store is damaged (cairn doctor --fix mends it)")

func (c *commands) printCleaned(done *cairn.CleanResult, dry bool) error {
	if c.Global.JSON {
		if err := c.WriteJSON(done); err != nil {
			return err
		}
	} else {
		went, freed := "dropped", "freed" // small loose objects may take more room in a pack
		if dry {
			went, freed = "would drop", "would free"
		}
		fmt.Fprintf(c.Out, "%s %s, %s %s; %s in %s left\n", went, wording.Count(done.Checkpoints, "checkpoint"), freed,
			wording.Size(max(0, done.Freed)), wording.Count(done.Kept, "checkpoint"), wording.Size(done.Size))
		c.printThinned(done, dry)
	}
	if n := len(done.Shortened); n > 0 {
		c.Console.Remark("%s the beginning of %s that goes on", map[bool]string{true: "would drop", false: "dropped"}[dry], wording.Count(n, "line"))
	}
	switch {
	case done.Blocked != nil:
		return fmt.Errorf("%w: %w", errBlocked, done.Blocked)
	case done.OverBudget > 0:
		held := "what is left is among the newest (keep_last)"
		if len(done.Pins) > 0 {
			held += " or pinned: " + wording.Printable(strings.Join(done.Pins, ", "))
		}
		c.Console.Remark("%s more than max_bytes: %s", wording.Size(done.OverBudget), held)
	case done.Incomplete:
		c.Console.Remark("another cairn needed the store: the next cleaning does the rest")
	}
	return nil
}

// printThinned prints the number of thinned checkpoints, and of a dry run the effect of each rule of keep.
func (c *commands) printThinned(done *cairn.CleanResult, dry bool) {
	if done.Thinned > 0 {
		fmt.Fprintf(c.Out, "%s %s\n", map[bool]string{true: "would thin", false: "thinned"}[dry], wording.Count(done.Thinned, "checkpoint"))
	}
	for _, k := range done.Keep {
		fmt.Fprintf(c.Out, "  %-10s keeps %s, %s; thins %d\n", k.Rule, wording.Count(k.Checkpoints, "checkpoint"), wording.Size(k.Bytes), k.Thinned)
	}
}
