package main

import (
	"context"

	"github.com/spf13/cobra"
)

const completionManual = `cairn completion prints the completion script of a shell.

Usage:
    cairn completion bash|zsh|fish

Commands, options, checkpoints (the newest 20, with age and message) and paths
are completed. To have it in every new shell:

    bash  echo 'source <(cairn completion bash)' >> ~/.bashrc
          (wants the package bash-completion)
    zsh   cairn completion zsh > "${fpath[1]}/_cairn"
          (wants autoload -U compinit; compinit in ~/.zshrc)
    fish  cairn completion fish > ~/.config/fish/completions/cairn.fish
`

func (c *cli) completionCommand() *cobra.Command {
	shells := []cobra.Completion{"bash", "zsh", "fish"}
	return c.command(command{
		use: "completion bash|zsh|fish", short: "the completion script of a shell", manual: completionManual,
		args:     takes(1, 1, "bash, zsh or fish"),
		complete: c.firstOnly(cobra.FixedCompletions(shells, cobra.ShellCompDirectiveNoFileComp)),
		run: func(_ context.Context, _ *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return c.root.GenBashCompletionV2(c.out, true)
			case "zsh":
				return c.root.GenZshCompletion(c.out)
			case "fish":
				return c.root.GenFishCompletion(c.out, true)
			}
			return c.usage("knows bash, zsh and fish, not %s", args[0])
		},
	})
}
