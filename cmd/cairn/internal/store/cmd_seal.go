package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/background"
	"github.com/seed-fb9cbc17/cairn/internal/trial"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const sealManual = `cairn seal encrypts the store of this directory until it is needed again.

Usage:
    cairn seal [--encrypt RECIPIENT]... [--identity FILE] [--untried]

The store becomes one file, and no name, path, content or prompt can be read
there: in a backup, in a synchronized home directory, by another account. The
directory itself stays as it is. cairn unseal opens the store; until then every
other command says that it is sealed, and agents go on without checkpoints.

With the setting seal = true cairn does both by itself: each command opens the
store with the setting identity. It is sealed again when an agent's session
ends, five minutes after the last request to a server, and after a command that
had to open it.

A RECIPIENT is one of age (age1...), or the text of a public SSH key; each of
several opens all. Without the option it is that of the setting encrypt. The
open files go only when the key has opened what was written, byte for byte, so
the key has to be at hand. A lost key cannot be replaced. A store that is
sealed already is sealed again, for the recipients that are named now. That
takes a key of the former ones and one of the new ones, in one file; with
--untried the former one is enough.

Removed files can be found on a disk until it writes over them. The log of hooks
lies beside the store and stays open, and so does work in the background, with
its prompts, for a day.

Options:
    --encrypt RECIPIENT  seal for it; may be given several times
    --identity FILE      identities of age, or private SSH keys without a
                         passphrase; otherwise that of the setting identity
    --untried            do not try the key; a store that is open needs none
    --background         as the setting seal says: clean, push and sign as
                         other settings say, then seal, and say nothing

With --json: {"files", "bytes", "size"}, numbers of files and bytes, and the
size of the sealed file.

Examples:
    cairn seal --encrypt "$(age-keygen -y key.txt)" --identity key.txt
    cairn unseal --identity key.txt
`

const unsealManual = `cairn unseal opens a store that cairn seal has encrypted.

Usage:
    cairn unseal [--identity FILE] [--dry-run]

Options:
    --identity FILE  identities of age, or private SSH keys without a
                     passphrase; otherwise that of the setting identity
    --dry-run        read everything with the key, and change nothing

With --json: {"files", "bytes", "size"} as in cairn seal. The status is 7 where
the key is missing or another one: the store stays sealed.

Examples:
    cairn unseal --identity key.txt
    cairn --root /home/me/moved unseal
`

func (c *commands) sealCommand() *cobra.Command {
	var how cairn.SealOptions
	var inBackground bool
	cmd := c.Command(cli.Command{
		Use: "seal [--encrypt RECIPIENT]...", Short: "encrypt the store until it is needed", Manual: sealManual,
		Args: cli.ArgCount(0, 0, "no arguments"), Complete: cobra.NoFileCompletions,
		Run: func(ctx context.Context, _ *cobra.Command, _ []string) error {
			if inBackground {
				return c.sealInBackground(ctx)
			}
			if err := c.CheckRecipients(); err != nil {
				return err
			}
			c.sweepCopies()
			return c.withKeys(ctx, how, cairn.Seal, func(res *cairn.SealResult) string {
				return fmt.Sprintf("sealed %s in %s", wording.Count(res.Files, "file"), wording.Size(res.Sealed))
			})
		},
	})
	c.RecipientFlag(cmd)
	c.IdentityFlag(cmd)
	cmd.Flags().BoolVar(&how.Untried, "untried", false, "do not try the key")
	cmd.Flags().BoolVar(&inBackground, "background", false, "as the setting seal says")
	return cmd
}

func (c *commands) unsealCommand() *cobra.Command {
	var how cairn.SealOptions
	cmd := c.Command(cli.Command{
		Use: "unseal [--identity FILE] [--dry-run]", Short: "open a store that was sealed", Manual: unsealManual,
		Args: cli.ArgCount(0, 0, "no arguments"), Complete: cobra.NoFileCompletions,
		Run: func(ctx context.Context, _ *cobra.Command, _ []string) error {
			done := "opened"
			if how.DryRun {
				done = "can open"
			}
			return c.withKeys(ctx, how, cairn.Unseal, func(res *cairn.SealResult) string {
				return fmt.Sprintf("%s %s, %s", done, wording.Count(res.Files, "file"), wording.Size(res.Bytes))
			})
		},
	})
	c.IdentityFlag(cmd)
	cmd.Flags().BoolVar(&how.DryRun, "dry-run", false, "change nothing")
	return cmd
}

// withKeys calls one of the functions for sealed stores and prints its result.
func (c *commands) withKeys(
	ctx context.Context, how cairn.SealOptions,
	call func(context.Context, cairn.Options, cairn.SealOptions) (*cairn.SealResult, error),
	text func(*cairn.SealResult) string,
) error {
	if err := c.FindIdentity(); err != nil {
		return err
	}
	opt, err := c.Options()
	switch {
	case err != nil:
		return err
	case opt.Identity == "" && !how.Untried:
		return c.Usage("has no key: --identity FILE, or the setting identity, names it")
	}
	res, err := call(ctx, opt, how)
	if err != nil {
		return err
	}
	if c.Global.JSON {
		return c.WriteJSON(res)
	}
	fmt.Fprintln(c.Out, text(res))
	return nil
}

// sealRetry is the time between two tries to seal a store with which another process works.
const sealRetry = time.Second

// sealInBackground does what other settings want done, and seals. It ends without an error: the next end of a
// session tries again.
func (c *commands) sealInBackground(ctx context.Context) error {
	background.GiveWay()
	ctx, cancel := context.WithTimeout(ctx, cli.BackgroundLimit)
	defer cancel()
	c.LeaveSealed = true
	opt, err := c.Options()
	if err != nil || !c.Config.Seal {
		return nil
	}
	trial.Sweep(opt.DataDir)
	if !cairn.StoreSealed(opt.DataDir, opt.Root) {
		_ = c.FinishTickets(ctx, opt) // a process that came later for one would open the store again
	}
	_ = c.WithRepo(func(repo *cairn.Repo) error {
		_, cleaned := repo.CleanIfDue(ctx, c.Retention(c.Config), cli.CleanEvery)
		_, synced := repo.Sync(ctx)
		_, signed := repo.Sign(ctx)
		return errors.Join(cleaned, synced, signed)
	})
	for {
		if cairn.StoreSealed(opt.DataDir, opt.Root) { // Seal would seal it again
			return nil
		}
		_, err := cairn.Seal(ctx, opt, cairn.SealOptions{})
		if !errors.Is(err, cairn.ErrLocked) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(sealRetry):
		}
	}
}
