package interfaces

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/console"
	"github.com/seed-fb9cbc17/cairn/internal/review"
	"github.com/seed-fb9cbc17/cairn/session"
)

const reviewManual = `cairn review shows on the terminal what agents did, and takes parts of it back.

Usage:
    cairn review [SESSION | SESSION:TURN | FROM..TO]

Without an argument all sessions are there, the one that was changed last first.
Turns stand with their prompts at the left, below them the files of the selected
turn, at the right the changed places of a file, its hunks. Arrows move, Enter
goes deeper, Esc back, and ? lists all keys.

a accepts what is selected: a hunk, a file or a turn. The store remembers it. x
takes it back: later work stays, merged where both changed the same file. X goes
back to before a turn, with all turns after it. u and Ctrl-R undo and redo the
last operation. Each shows first what it would do to which file, and what would
stay as a conflict; y does exactly that.

FROM..TO, or FROM.. for up to now, shows what changed between two checkpoints.

--color, NO_COLOR and the terminal decide about colours.

The command needs a terminal; cairn diff and cairn show print the same. The exit
status is 4 if there is no such session, turn or checkpoint.

Examples:
    cairn review
    cairn review @
    cairn review @~3..@
`

func (c *commands) reviewCommand() *cobra.Command {
	return c.Command(cli.Command{
		Use: "review [SESSION | SESSION:TURN | FROM..TO]", Short: "look at what agents did, accept it or take it back", Manual: reviewManual,
		Args: cli.ArgCount(0, 1, "at most one SESSION, SESSION:TURN or FROM..TO"), Complete: c.completeReview,
		Run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			if !cli.IsTerminal(c.Stdin) || !cli.IsTerminal(c.Stdout) || c.Env("TERM") == "dumb" || c.Global.JSON {
				return c.Usage("needs a terminal; cairn diff and cairn show print the same")
			}
			return c.review(ctx, append(args, "")[0], c.reviewColours())
		},
	})
}

// completeReview completes sessions.
func (c *commands) completeReview(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.OfferSessionOrTurn(cmd.Context(), typed)
}

// reviewColours are those that --color asks for. Nil leaves the decision to the terminal.
func (c *commands) reviewColours() *review.Colours {
	choice, colours := string(c.Global.Color), review.ManyColours
	switch {
	case !console.Colored(choice, c.Env, true):
		colours = review.NoColours
	case choice != console.Always:
		return nil
	}
	return &colours
}

// review shows the interface. Nothing else may write to the terminal meanwhile.
func (c *commands) review(ctx context.Context, spec string, colours *review.Colours) error {
	opt, err := c.Options()
	if err != nil {
		return err
	}
	opt.Logger, opt.Progress = nil, nil
	repo, err := cairn.Open(opt)
	if err != nil {
		return err
	}
	sessions := session.New(repo)
	shown := review.Options{
		Project: filepath.Base(repo.Root()), Now: time.Now,
		Dark: !strings.HasSuffix(c.Env("COLORFGBG"), ";15"), Mouse: true,
	}
	if err = chosen(ctx, repo, sessions, spec, &shown); err == nil {
		shown.Source = review.NewSource(repo, sessions, shown.Session)
		err = review.Run(ctx, shown, review.Terminal{In: c.Stdin, Out: c.Stdout, Env: c.terminalEnv(), Colours: colours})
	}
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		err = cli.ErrInterrupted
	}
	c.NoteDue(repo)
	return errors.Join(err, repo.Close())
}

// chosen finds what the argument names.
func chosen(ctx context.Context, repo *cairn.Repo, sessions *session.Sessions, spec string, opt *review.Options) error {
	if spec == "" {
		return nil
	}
	if from, to, isRange := strings.Cut(spec, ".."); isRange {
		first, err := repo.Lookup(ctx, from)
		if err != nil {
			return err
		}
		var last *cairn.Checkpoint
		words := ""
		if to != "" {
			if last, err = repo.Lookup(ctx, to); err != nil {
				return err
			}
			words = cli.CheckpointWords(ctx, sessions, last, make(session.WorkCache))
		}
		opt.Range = review.RangeTurn(first, last, words)
		return nil
	}
	name, turn, ofTurn := strings.Cut(spec, ":")
	id, err := sessions.Find(ctx, name)
	if err != nil || !ofTurn {
		opt.Session = id
		return err
	}
	in, err := sessions.TurnScope(ctx, id, turn)
	opt.Session, opt.Turn = id, in.Message
	return err
}

// terminalEnv is what the library reads of the environment.
func (c *commands) terminalEnv() (env []string) {
	for _, name := range []string{
		"TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TMUX", "STY", "SSH_TTY", "WT_SESSION", "ConEmuANSI", "ANSICON", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE",
	} {
		if value := c.Env(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}
