package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/config"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const duManual = `cairn du says what the stores of all projects take.

Usage:
    cairn du [--here]

There is one line for each store: the size of all its files, the number of
checkpoints, how old the oldest is, what cairn gc would free, and the directory
that it belongs to. A directory that is not there any more is marked as gone;
cairn adopt gives its store to where the project was moved to,
cairn doctor --remove-abandoned removes such stores. The last line is the sum.

Options:
    --here  only the store of this project

With --json the answer is an array of {"root", "store", "size", "files",
"checkpoints", "lines", "pins", "oldest", "newest", "budget", "cleaned",
"reclaimable", "missing", "error"}: bytes and RFC 3339 times.
`

// storeUse is one line of du.
type storeUse struct {
	cairn.Usage
	Reclaimable int64  `json:"reclaimable"`
	Missing     bool   `json:"missing"`
	Error       string `json:"error,omitempty"`
}

func (c *commands) duCommand() *cobra.Command {
	var here bool
	cmd := c.Command(cli.Command{
		Use: "du [--here]", Short: "what the stores of all projects take", Manual: duManual,
		Args: cli.ArgCount(0, 0, "no arguments"), Complete: cobra.NoFileCompletions,
		Run: func(ctx context.Context, _ *cobra.Command, _ []string) error {
			uses, err := c.storeUses(ctx, here)
			if err != nil {
				return err
			}
			return c.printUses(uses)
		},
	})
	cmd.Flags().BoolVar(&here, "here", false, "only the store of this project")
	return cmd
}

func (c *commands) storeUses(ctx context.Context, here bool) ([]storeUse, error) {
	if here {
		opt, err := c.Options()
		if err != nil {
			return nil, err
		}
		opt.MustExist = true
		repo, err := cairn.Open(opt)
		if err != nil {
			return nil, err
		}
		defer repo.Close()
		u, err := c.useOf(ctx, repo, c.Config)
		return []storeUse{u}, err
	}
	stores, err := c.Stores()
	if err != nil {
		return nil, err
	}
	uses := []storeUse{}
	for _, s := range stores {
		u, err := storeUse{Usage: cairn.Usage{Root: cairn.Path(s.Root), Store: cairn.Path(s.Dir), Size: s.Size}}, s.Err
		if err == nil {
			u, err = c.measureStore(ctx, s, u)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if u.Missing = s.Missing; err != nil {
			u.Error = err.Error()
		}
		uses = append(uses, u)
	}
	return uses, nil
}

// measureStore measures one of many stores, with the settings of its project.
func (c *commands) measureStore(ctx context.Context, s cairn.StoreInfo, known storeUse) (storeUse, error) {
	cfg, err := (&cli.Program{Env: c.Env, Console: cli.NewConsole(io.Discard)}).Settings(s.Root)
	if err != nil {
		return known, err
	}
	store, err := cairn.OpenStore(s.Dir)
	if err != nil {
		return known, err
	}
	defer store.Close()
	u, err := c.useOf(ctx, store, cfg)
	if err != nil {
		return known, err
	}
	return u, nil
}

// measured is a store that can be measured, of a root that is there or gone.
type measured interface {
	Usage(context.Context) (*cairn.Usage, error)
	Clean(context.Context, cairn.CleanOptions) (*cairn.CleanResult, error)
}

func (c *commands) useOf(ctx context.Context, store measured, cfg *config.Config) (storeUse, error) {
	u, err := store.Usage(ctx)
	if err != nil {
		return storeUse{}, err
	}
	if cfg.MaxBytes != 0 {
		u.Budget = cfg.MaxBytes
	}
	use := storeUse{Usage: *u}
	dry, err := store.Clean(ctx, cairn.CleanOptions{Retention: c.Retention(cfg), DryRun: true, Thorough: true})
	switch {
	case err == nil:
		use.Reclaimable = dry.Freed
	case !errors.Is(err, cairn.ErrBusy):
		return use, err
	}
	return use, nil
}

func (c *commands) printUses(uses []storeUse) error {
	if c.Global.JSON {
		return c.WriteJSON(uses)
	}
	var sum, free int64
	for _, u := range uses {
		sum, free = sum+u.Size, free+u.Reclaimable
		note := pathtext.Place(string(u.Root))
		switch {
		case u.Error != "":
			note = pathtext.Place(string(u.Store)) + ": " + u.Error
		case u.Missing:
			note += " (gone)"
		}
		fmt.Fprintf(c.Out, "%10s  %18s  %-13s  %10s to free  %s\n", wording.Size(u.Size), wording.Count(u.Checkpoints, "checkpoint"), c.since(u.Oldest), wording.Size(u.Reclaimable), note)
	}
	_, err := fmt.Fprintf(c.Out, "%10s  %s, %s to free\n", wording.Size(sum), wording.Count(len(uses), "store"), wording.Size(free))
	return err
}

func (c *commands) since(when time.Time) string {
	if when.IsZero() {
		return "-"
	}
	return wording.Ago(c.Console.Now().Sub(when))
}
