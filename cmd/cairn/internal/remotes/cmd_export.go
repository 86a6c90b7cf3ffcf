package remotes

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/sealed"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const exportManual = `cairn export writes a checkpoint to stdout, for another store or machine.

Usage:
    cairn export [--encrypt RECIPIENT]... HASH > FILE

It is a git bundle with all files and metadata of the checkpoint, but without
its history: cairn import takes it, and any git can clone it or fetch from it.
Exporting the same checkpoint again gives the same bytes. If it fails, FILE has
a part of a bundle, which nothing accepts. A terminal is refused.

With --encrypt the bundle is sealed: only the holder of a key can read it. A
RECIPIENT is one of age (age1...), or the text of a public SSH key, ssh-ed25519
or ssh-rsa. Each of several recipients can open it. The program age opens it,
too. What is sealed differs each time.

Options:
    --encrypt RECIPIENT  seal the bundle; may be given several times

There is no --json form.

Examples:
    cairn export @ > state.bundle
    cairn export --encrypt "$(cat ~/.ssh/id_ed25519.pub)" @ > state.sealed
    cairn export @ | ssh host 'cairn -C project import'
`

func (c *commands) exportCommand() *cobra.Command {
	var recipients []string
	cmd := c.Command(cli.Command{
		Use: "export [--encrypt RECIPIENT]... HASH", Short: "write a checkpoint to stdout, as a git bundle", Manual: exportManual,
		Args: cli.ArgCount(1, 1, "a HASH"), Complete: c.CompleteHashes(1),
		Run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			switch {
			case c.Global.JSON:
				return c.Usage("has no --json form: it prints a git bundle")
			case c.OutTerminal:
				return c.Usage("does not write to a terminal: send it to a file, as in cairn export %s > FILE", wording.ShellWord(args[0]))
			}
			return c.WithRepo(func(repo *cairn.Repo) error {
				if len(recipients) == 0 {
					return repo.Export(ctx, c.Out, args[0])
				}
				return c.exportSealed(ctx, repo, args[0], recipients)
			})
		},
	})
	cmd.Flags().StringArrayVar(&recipients, "encrypt", nil, "seal the bundle for a recipient")
	return cmd
}

func (c *commands) exportSealed(ctx context.Context, repo *cairn.Repo, spec string, recipients []string) error {
	if _, err := repo.Lookup(ctx, spec); err != nil {
		return err // before anything is written
	}
	out, err := sealed.Seal(c.Out, recipients)
	if errors.Is(err, sealed.ErrRecipient) {
		return c.Usage("cannot use --encrypt: %s", err)
	}
	if err != nil {
		return err
	}
	if err := repo.Export(ctx, out, spec); err != nil {
		return err // without its end, nothing opens it
	}
	return out.Close()
}

const importManual = `cairn import takes a checkpoint from stdin that cairn export wrote.

Usage:
    cairn import [--identity FILE] < FILE

It prints the id of the tree, as cairn track does. The checkpoint is then a HASH
here, by that id or its own; it does not become @, and nothing in the directory
changes until it is restored. A bundle that was cut off or altered is refused,
and so is one with paths that no checkpoint has: nothing of it is in the store
then. A terminal is refused.

A bundle that cairn export --encrypt has sealed needs a key: that of --identity,
or of the setting identity.

Options:
    --identity FILE  identities of age, or private SSH keys without a
                     passphrase, to open a sealed bundle with

With --json the answer is {"id", "hash", "time", "author", "message"}.

Example:
    cairn restore "$(cairn import < state.bundle)"
`

func (c *commands) importCommand() *cobra.Command {
	var identity string
	cmd := c.Command(cli.Command{
		Use: "import [--identity FILE]", Short: "take a checkpoint from stdin", Manual: importManual,
		Args: cli.ArgCount(0, 0, "no arguments: the bundle comes from stdin, as in cairn import < FILE"), Complete: cobra.NoFileCompletions,
		Run: func(ctx context.Context, _ *cobra.Command, _ []string) error {
			if cli.IsTerminal(c.Stdin) {
				return c.Usage("does not read from a terminal: give it a file, as in cairn import < FILE")
			}
			in, err := c.unsealed(bufio.NewReader(cli.InterruptibleReader(ctx, c.Stdin)), identity)
			if err != nil {
				return err
			}
			return c.WithRepo(func(repo *cairn.Repo) error {
				cp, err := repo.Import(ctx, in)
				if err != nil {
					return err
				}
				return c.printImport(cp)
			})
		},
	})
	cmd.Flags().StringVar(&identity, "identity", "", "file with the key of a sealed bundle")
	return cmd
}

// unsealed opens a sealed bundle. One that is not sealed is returned as it is.
func (c *commands) unsealed(in *bufio.Reader, identity string) (io.Reader, error) {
	switch {
	case !sealed.IsSealed(in):
		return in, nil
	case identity == "":
		return c.unsealedBySetting(in)
	}
	path, err := c.FileFrom(identity)
	if err != nil {
		return nil, err
	}
	return openSealed(in, path)
}

// unsealedBySetting opens a sealed bundle with the key that the settings of the root name.
func (c *commands) unsealedBySetting(in io.Reader) (io.Reader, error) {
	dir, err := c.WorkDir()
	if err != nil {
		return nil, err
	}
	root, err := c.RootDir(dir)
	if err != nil {
		return nil, err
	}
	cfg, err := c.Settings(root)
	if err == nil && cfg.Identity == "" {
		err = c.Usage("cannot read a sealed bundle: --identity FILE, or the setting identity, names the file with the key")
	}
	if err != nil {
		return nil, err
	}
	return openSealed(in, cfg.Identity)
}

// openSealed opens a sealed bundle with the key in a file.
func openSealed(in io.Reader, path string) (io.Reader, error) {
	key, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	out, err := sealed.Open(in, key)
	if errors.Is(err, sealed.ErrIdentity) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, err
}

func (c *commands) printImport(cp *cairn.Checkpoint) error {
	if c.Global.JSON {
		return c.WriteJSON(cli.LogEntry{ID: cp.ID, Hash: cp.Hash, Time: cp.When, Author: cp.Author, Message: cp.Message})
	}
	_, err := c.Out.WriteString(cp.Hash + "\n")
	return err
}
