package cli

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

func (c *Program) completionCommand() *cobra.Command {
	shells := []cobra.Completion{"bash", "zsh", "fish"}
	return c.Command(Command{
		Use: "completion bash|zsh|fish", Short: "the completion script of a shell", Manual: completionManual,
		Args:     ArgCount(1, 1, "bash, zsh or fish"),
		Complete: c.FirstOnly(cobra.FixedCompletions(shells, cobra.ShellCompDirectiveNoFileComp)),
		Run: func(_ context.Context, _ *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return c.Root.GenBashCompletionV2(c.Out, true)
			case "zsh":
				return c.Root.GenZshCompletion(c.Out)
			case "fish":
				return c.Root.GenFishCompletion(c.Out, true)
			}
			return c.Usage("knows bash, zsh and fish, not %s", args[0])
		},
	})
}

const (
	MaxOffered = 20 // checkpoints

	// maxCompletion is the longest time that a shell waits; names that are not found by
	// then are not offered.
	maxCompletion = 500 * time.Millisecond
)

// FirstOnly completes nothing after the first argument.
func (c *Program) FirstOnly(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(cmd, args, typed)
	}
}

// CompleteHashes completes up to max checkpoints.
func (c *Program) CompleteHashes(max int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= max {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.OfferCheckpoints(cmd.Context(), typed)
	}
}

// CompleteFiles leaves the completion of files on disk to the shell.
func CompleteFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// CompleteHashThenFiles completes a checkpoint and then files that are on disk.
func (c *Program) CompleteHashThenFiles(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return c.OfferCheckpoints(cmd.Context(), typed)
	}
	return CompleteFiles(cmd, args, typed)
}

// CompleteRevert completes a checkpoint or a range of two, and then files.
func (c *Program) CompleteRevert(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 || cmd.Flags().Changed("patches") {
		return CompleteFiles(cmd, args, typed)
	}
	return c.offerEnds(cmd.Context(), typed)
}

// offerEnds offers checkpoints, and behind FROM.. those for the other end of the range.
func (c *Program) offerEnds(ctx context.Context, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	from, to, isRange := strings.Cut(typed, "..")
	if !isRange {
		return c.OfferCheckpoints(ctx, typed)
	}
	offers, directive := c.OfferCheckpoints(ctx, to)
	for i := range offers {
		offers[i] = from + ".." + offers[i]
	}
	return offers, directive
}

// CompleteDiff completes checkpoints or a range of two, and files after --.
func (c *Program) CompleteDiff(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch {
	case c.afterDashes():
		return CompleteFiles(cmd, args, typed)
	case len(args) == 0:
		return c.offerEnds(cmd.Context(), typed)
	case strings.Contains(args[0], ".."): // both ends are there
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.CompleteHashes(2)(cmd, args, typed)
}

// CompleteBisect completes checkpoints, and a command after --.
func (c *Program) CompleteBisect(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if c.afterDashes() {
		return CompleteCommand(cmd, args, typed)
	}
	return c.CompleteHashes(2)(cmd, args, typed)
}

// afterDashes reports whether the word to complete stands after --. ArgsLenAtDash cannot be used:
// cobra's completion adds a -- of its own behind the arguments.
func (c *Program) afterDashes() bool { return slices.Contains(c.args[:len(c.args)-1], "--") }

// CompleteHashThenTree completes a checkpoint and then a path in it.
func (c *Program) CompleteHashThenTree(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return c.OfferCheckpoints(cmd.Context(), typed)
	case 1:
		return c.offerTree(cmd.Context(), args[0], typed)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// OfferCheckpoints offers the names of the named checkpoints and then the ids of the newest
// ones, described by age and by prompt or message. The id is the tree's, which track prints, or the commit's
// if a newer checkpoint has the same tree. Without a store it offers nothing and makes none.
func (c *Program) OfferCheckpoints(ctx context.Context, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	repo, err := c.OpenForCompletion()
	if err != nil {
		return nil, directive
	}
	defer repo.Close()
	offers := c.OfferPins(ctx, repo, typed)
	seen := make(map[string]bool)
	all, known, n := session.New(repo), make(session.WorkCache), 0
	for cp, err := range repo.Checkpoints(ctx) {
		if n++; err != nil || n > MaxOffered {
			break
		}
		id := cp.Hash
		if seen[id] || !strings.HasPrefix(id, typed) && strings.HasPrefix(cp.ID, typed) {
			id = cp.ID
		}
		seen[cp.Hash] = true
		if strings.HasPrefix(id, typed) {
			offers = append(offers, cobra.CompletionWithDesc(id[:max(ShortID, len(typed))], c.AboutCheckpoint(ctx, all, cp, known)))
		}
	}
	return offers, directive
}

// offerTree offers the names of a checkpoint in the directory that was typed so far.
func (c *Program) offerTree(ctx context.Context, spec, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	repo, err := c.OpenForCompletion()
	if err != nil {
		return nil, directive
	}
	defer repo.Close()
	ctx, cancel := context.WithTimeout(ctx, maxCompletion)
	defer cancel()
	lead, name := path.Split(filepath.ToSlash(typed))
	dirs, err := c.Paths([]string{"./" + lead})
	if err == nil && filepath.IsAbs(lead) {
		dirs, err = c.Paths([]string{lead})
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

// OpenForCompletion opens the repository without a word on stderr.
func (c *Program) OpenForCompletion() (*cairn.Repo, error) {
	c.Running, c.Console.Quiet = "completion", true
	return c.Open()
}

// CompleteSourceThenFiles completes a checkpoint or a directory, and then files.
func (c *Program) CompleteSourceThenFiles(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 && !strings.ContainsRune(typed, '/') && typed != "." && typed != ".." {
		if offers, directive := c.OfferCheckpoints(cmd.Context(), typed); len(offers) > 0 {
			return offers, directive
		}
	}
	return CompleteFiles(cmd, args, typed)
}

// OfferPins offers the names of checkpoints that begin with what was typed.
func (c *Program) OfferPins(ctx context.Context, repo *cairn.Repo, typed string) []cobra.Completion {
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
			about = c.AboutCheckpoint(ctx, all, cp, known)
		}
		offers = append(offers, cobra.CompletionWithDesc(p.Name, about))
	}
	return offers
}

// CompleteCommand leaves the completion of a command to the shell.
func CompleteCommand(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// CompleteFlag registers the values of an option for completion.
func CompleteFlag(cmd *cobra.Command, name string, values ...cobra.Completion) {
	complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
		panic("internal error: " + err.Error())
	}
}
