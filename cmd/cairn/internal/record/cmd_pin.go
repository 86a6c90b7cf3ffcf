package record

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const pinManual = `cairn pin gives a checkpoint a name, or lists the names.

Usage:
    cairn pin HASH NAME
    cairn pin [--fetched]

The name then stands wherever a HASH does, and the checkpoint is never cleaned
away. A name is up to 200 bytes of UTF-8 without control characters; it must not
begin with @, hold .. or look like a HASH. One that another checkpoint has is
refused: cairn unpin takes it away.

Without arguments there is one line per name: the name, the first 12 digits of
the checkpoint's id, its age and its message. With --fetched these are the names
that other machines have pushed, and whose they are. Such a name stands for its
checkpoint, too, where this machine has not given it to another one.

With --json the answer is {"name", "checkpoint", "hash"}, or an array of them.
The hash is empty if the checkpoint cannot be read.

Options:
    --fetched  list the names of other machines

Examples:
    cairn pin @ before-the-migration
    cairn restore before-the-migration
`

func (c *commands) pinCommand() *cobra.Command {
	fetched := false
	cmd := c.Command(cli.Command{
		Use: "pin [HASH NAME]", Short: "name a checkpoint, or list the names", Manual: pinManual,
		Args: cli.ArgCount(0, 2, "a HASH and a NAME, or nothing"), Complete: c.CompleteHashes(1),
		Run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return c.Usage("wants a NAME for %s", wording.ShellWord(args[0]))
			}
			if fetched && len(args) > 0 {
				return c.Usage("cannot name a checkpoint with --fetched, which lists")
			}
			return c.WithRepo(func(repo *cairn.Repo) error {
				switch {
				case fetched:
					return c.listPins(ctx, repo, repo.FetchedPins)
				case len(args) == 0:
					return c.listPins(ctx, repo, repo.Pins)
				}
				return c.pin(ctx, repo, args[0], args[1])
			})
		},
	})
	cmd.Flags().BoolVar(&fetched, "fetched", false, "list those of other machines")
	return cmd
}

func (c *commands) pin(ctx context.Context, repo *cairn.Repo, spec, name string) error {
	if err := repo.Pin(ctx, spec, name); err != nil {
		return err
	}
	cp, err := repo.Lookup(ctx, name)
	if err != nil {
		return err
	}
	if c.Global.JSON {
		return c.WriteJSON(cairn.Pin{Name: name, Checkpoint: cp.ID, Hash: cp.Hash})
	}
	c.Console.Remark("checkpoint %.*s is now also called %s", cli.ShortID, cp.ID, name)
	return nil
}

func (c *commands) listPins(ctx context.Context, repo *cairn.Repo, list func(context.Context) ([]cairn.Pin, error)) error {
	pins, err := list(ctx)
	if err != nil {
		return err
	}
	if c.Global.JSON {
		array := c.NewArray()
		for _, p := range pins {
			if err := array.Add(p); err != nil {
				return err
			}
		}
		return array.Close()
	}
	width := 0
	for _, p := range pins {
		width = max(width, utf8.RuneCountInString(p.Name))
	}
	all, known := session.New(repo), make(session.WorkCache)
	for _, p := range pins {
		about := "unreadable"
		if p.Hash != "" {
			cp, err := repo.Lookup(ctx, p.Checkpoint)
			if err != nil {
				return err
			}
			about = c.AboutCheckpoint(ctx, all, cp, known)
		}
		if p.Fetched != nil {
			about = "from " + p.Fetched.String() + ", " + about
		}
		fmt.Fprintf(c.Out, "%s%*s  %.*s  %s\n", p.Name, width-utf8.RuneCountInString(p.Name), "", cli.ShortID, p.Checkpoint, about)
	}
	if len(pins) == 0 {
		c.Console.Remark("no names yet")
	}
	return nil
}

const unpinManual = `cairn unpin takes a name away that cairn pin gave.

Usage:
    cairn unpin NAME

The checkpoint stays, until it is cleaned away with the others of its age.
`

func (c *commands) unpinCommand() *cobra.Command {
	return c.Command(cli.Command{
		Use: "unpin NAME", Short: "take a name away", Manual: unpinManual,
		Args: cli.ArgCount(1, 1, "a NAME"), Complete: c.FirstOnly(c.completePins),
		Run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			return c.WithRepo(func(repo *cairn.Repo) error { return repo.Unpin(ctx, args[0]) })
		},
	})
}

func (c *commands) completePins(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	repo, err := c.OpenForCompletion()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer repo.Close()
	return c.OfferPins(cmd.Context(), repo, typed), cobra.ShellCompDirectiveNoFileComp
}
