package cli

import (
	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn/internal/config"
)

// RecipientFlag adds --encrypt to a command.
func (c *Program) RecipientFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&c.Encrypt, "encrypt", nil, "seal for a recipient")
}

// CheckRecipients refuses recipients that nothing can be sealed for.
func (c *Program) CheckRecipients() error {
	if len(c.Encrypt) == 0 {
		return nil
	}
	if err := config.CheckRecipients(c.Encrypt); err != nil {
		return c.Usage("cannot use --encrypt: %s", err)
	}
	return nil
}

// IdentityFlag adds --identity to a command.
func (c *Program) IdentityFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.Identity, "identity", "", "file with the key of what was sealed")
}

// FindIdentity makes the path of --identity absolute.
func (c *Program) FindIdentity() (err error) {
	if c.Identity != "" {
		c.Identity, err = c.FileFrom(c.Identity)
	}
	return err
}

// FileFrom makes a path absolute, from the current directory or that of -C.
func (c *Program) FileFrom(name string) (string, error) {
	dir, err := c.WorkDir()
	return AbsolutePath(dir, name), err
}
