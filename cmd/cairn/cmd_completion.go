package main

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const completionManual = `cairn completion prints the completion script of a shell.

Usage:
    cairn completion bash|zsh|fish

Commands, options, checkpoints and sessions (the newest 20, with age and prompt
or message) and paths are completed. To have it in every new shell:

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
		args:     argCount(1, 1, "bash, zsh or fish"),
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

const (
	maxOffered = 20 // checkpoints

	// maxCompletion is the longest time that a shell waits; names that are not found by
	// then are not offered.
	maxCompletion = 500 * time.Millisecond
)

// firstOnly completes nothing after the first argument.
func (c *cli) firstOnly(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(cmd, args, typed)
	}
}

// completeHashes completes up to max checkpoints.
func (c *cli) completeHashes(max int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= max {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.offerCheckpoints(cmd.Context(), typed)
	}
}

// completeFiles leaves the completion of files on disk to the shell.
func completeFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// completeHashThenFiles completes a checkpoint and then files that are on disk.
func (c *cli) completeHashThenFiles(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return c.offerCheckpoints(cmd.Context(), typed)
	}
	return completeFiles(cmd, args, typed)
}

// completeRevert completes a checkpoint or a range of two, and then files.
func (c *cli) completeRevert(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	from, to, isRange := strings.Cut(typed, "..")
	switch {
	case len(args) > 0 || cmd.Flags().Changed("patches"):
		return completeFiles(cmd, args, typed)
	case !isRange:
		return c.offerCheckpoints(cmd.Context(), typed)
	}
	offers, directive := c.offerCheckpoints(cmd.Context(), to)
	for i := range offers {
		offers[i] = from + ".." + offers[i]
	}
	return offers, directive
}

// completeDiff completes checkpoints, and files after --. ArgsLenAtDash cannot be used:
// cobra's completion adds a -- of its own behind the arguments.
func (c *cli) completeDiff(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if slices.Contains(c.args[:len(c.args)-1], "--") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return c.completeHashes(2)(cmd, args, typed)
}

// completeHashThenTree completes a checkpoint and then a path in it.
func (c *cli) completeHashThenTree(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return c.offerCheckpoints(cmd.Context(), typed)
	case 1:
		return c.offerTree(cmd.Context(), args[0], typed)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// offerCheckpoints offers the names of the named checkpoints and then the ids of the newest
// ones, described by age and by prompt or message. The id is the tree's, which track prints, or the commit's
// if a newer checkpoint has the same tree. Without a store it offers nothing and makes none.
func (c *cli) offerCheckpoints(ctx context.Context, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	repo, err := c.openForCompletion()
	if err != nil {
		return nil, directive
	}
	defer repo.Close()
	offers := c.offerPins(ctx, repo, typed)
	seen := make(map[string]bool)
	all, known, n := session.New(repo), make(session.WorkCache), 0
	for cp, err := range repo.Checkpoints(ctx) {
		if n++; err != nil || n > maxOffered {
			break
		}
		id := cp.Hash
		if seen[id] || !strings.HasPrefix(id, typed) && strings.HasPrefix(cp.ID, typed) {
			id = cp.ID
		}
		seen[cp.Hash] = true
		if strings.HasPrefix(id, typed) {
			offers = append(offers, cobra.CompletionWithDesc(id[:max(shortID, len(typed))], c.aboutCheckpoint(ctx, all, cp, known)))
		}
	}
	return offers, directive
}

// offerTree offers the names of a checkpoint in the directory that was typed so far.
func (c *cli) offerTree(ctx context.Context, spec, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	repo, err := c.openForCompletion()
	if err != nil {
		return nil, directive
	}
	defer repo.Close()
	ctx, cancel := context.WithTimeout(ctx, maxCompletion)
	defer cancel()
	lead, name := path.Split(filepath.ToSlash(typed))
	dirs, err := c.paths([]string{"./" + lead})
	if err == nil && filepath.IsAbs(lead) {
		dirs, err = c.paths([]string{lead})
	}
	if err != nil {
		return nil, directive
	}
	below, err := filepath.Rel(repo.Root(), dirs[0])
	if err != nil {
		return nil, directive
	}
	var offers []cobra.Completion
	last := ""
	for e, err := range repo.List(ctx, spec, dirs[0]) {
		if err != nil {
			break
		}
		next, rest, isDir := strings.Cut(strings.TrimPrefix(e.Path, filepath.ToSlash(below)+"/"), "/")
		if isDir || rest != "" {
			next += "/"
		}
		if next != last && strings.HasPrefix(next, name) && wording.Printable(next) == next {
			offers = append(offers, cobra.Completion(lead+next))
		}
		last = next
	}
	return offers, directive
}

func (c *cli) openForCompletion() (*cairn.Repo, error) {
	c.running, c.console.Quiet = "completion", true
	return c.open()
}

// completeSourceThenFiles completes a checkpoint or a directory, and then files.
func (c *cli) completeSourceThenFiles(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 && !strings.ContainsRune(typed, '/') && typed != "." && typed != ".." {
		if offers, directive := c.offerCheckpoints(cmd.Context(), typed); len(offers) > 0 {
			return offers, directive
		}
	}
	return completeFiles(cmd, args, typed)
}
