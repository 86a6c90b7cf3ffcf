package main

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const pinManual = `cairn pin gives a checkpoint a name, or lists the names.

Usage:
    cairn pin HASH NAME
    cairn pin

The name then stands wherever a HASH does, and the checkpoint is never cleaned
away. A name is up to 200 bytes of UTF-8 without control characters; it must not
begin with @, hold .. or look like a HASH. One that another checkpoint has is
refused: cairn unpin takes it away.

Without arguments there is one line per name: the name, the first 12 digits of
the checkpoint's id, its age and its message.

With --json the answer is {"name", "checkpoint", "hash"}, or an array of them.
The hash is empty if the checkpoint cannot be read.

Examples:
    cairn pin @ before-the-migration
    cairn restore before-the-migration
`

func (c *cli) pinCommand() *cobra.Command {
	return c.command(command{
		use: "pin [HASH NAME]", short: "name a checkpoint, or list the names", manual: pinManual,
		args: argCount(0, 2, "a HASH and a NAME, or nothing"), complete: c.completeHashes(1),
		run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return c.usage("wants a NAME for %s", wording.ShellWord(args[0]))
			}
			return c.withRepo(func(repo *cairn.Repo) error {
				if len(args) == 0 {
					return c.listPins(ctx, repo)
				}
				return c.pin(ctx, repo, args[0], args[1])
			})
		},
	})
}

func (c *cli) pin(ctx context.Context, repo *cairn.Repo, spec, name string) error {
	if err := repo.Pin(ctx, spec, name); err != nil {
		return err
	}
	cp, err := repo.Lookup(ctx, name)
	if err != nil {
		return err
	}
	if c.global.json {
		return c.writeJSON(cairn.Pin{Name: name, Checkpoint: cp.ID, Hash: cp.Hash})
	}
	c.console.Remark("checkpoint %.*s is now also called %s", shortID, cp.ID, name)
	return nil
}

func (c *cli) listPins(ctx context.Context, repo *cairn.Repo) error {
	pins, err := repo.Pins(ctx)
	if err != nil {
		return err
	}
	if c.global.json {
		array := c.newArray()
		for _, p := range pins {
			if err := array.add(p); err != nil {
				return err
			}
		}
		return array.close()
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
			about = c.aboutCheckpoint(ctx, all, cp, known)
		}
		fmt.Fprintf(c.out, "%s%*s  %.*s  %s\n", p.Name, width-utf8.RuneCountInString(p.Name), "", shortID, p.Checkpoint, about)
	}
	if len(pins) == 0 {
		c.console.Remark("no names yet")
	}
	return nil
}

const unpinManual = `cairn unpin takes a name away that cairn pin gave.

Usage:
    cairn unpin NAME

The checkpoint stays, until it is cleaned away with the others of its age.
`

func (c *cli) unpinCommand() *cobra.Command {
	return c.command(command{
		use: "unpin NAME", short: "take a name away", manual: unpinManual,
		args: argCount(1, 1, "a NAME"), complete: c.firstOnly(c.completePins),
		run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			return c.withRepo(func(repo *cairn.Repo) error { return repo.Unpin(ctx, args[0]) })
		},
	})
}

func (c *cli) completePins(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	repo, err := c.openForCompletion()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer repo.Close()
	return c.offerPins(cmd.Context(), repo, typed), cobra.ShellCompDirectiveNoFileComp
}

func (c *cli) offerPins(ctx context.Context, repo *cairn.Repo, typed string) []cobra.Completion {
	pins, err := repo.Pins(ctx)
	if err != nil {
		return nil
	}
	var offers []cobra.Completion
	all, known := session.New(repo), make(session.WorkCache)
	for _, p := range pins {
		if !strings.HasPrefix(p.Name, typed) {
			continue
		}
		about := "unreadable"
		if cp, err := repo.Lookup(ctx, p.Checkpoint); err == nil {
			about = c.aboutCheckpoint(ctx, all, cp, known)
		}
		offers = append(offers, cobra.CompletionWithDesc(p.Name, about))
	}
	return offers
}
