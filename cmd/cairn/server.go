package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/client"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
)

// begun is the answer of a command that goes on in the background.
type begun struct {
	Ticket string `json:"ticket"`
	Rest   string `json:"rest,omitempty"` // ticket for the paths that the other one leaves out
}

// later begins work in the background and returns its ticket. It looks at neither the
// files nor the store, so that it returns at once. The server does the work if one is
// running, else a process that is started for it. With rest, the whole is captured
// after the paths that r names.
func (c *cli) later(ctx context.Context, r *ticket.Request, rest bool) (begun, error) {
	opt, err := c.options()
	if err != nil {
		return begun{}, err
	}
	r.Reduce(opt.NoPrompts, opt.NoMask)
	if s := c.server(opt); s != nil {
		id, restID, err := s.BeginTicket(ctx, r, rest)
		if !errors.Is(err, client.ErrNoServer) {
			return begun{id, restID}, err
		}
	}
	root, err := realpath.Of(opt.Root)
	if err != nil {
		return begun{}, fmt.Errorf("%w: %w", cairn.ErrRoot, err)
	}
	r.Root, r.Flags = cairn.Path(root), c.ticketFlags()
	r.Flags.GitDir, r.Flags.GitWorkTree = opt.GitDir, opt.GitWorkTree
	return c.beginHere(opt.DataDir, r, rest)
}

// beginHere writes the tickets and starts a process for them.
func (c *cli) beginHere(dataDir string, r *ticket.Request, rest bool) (b begun, err error) {
	book := ticket.In(dataDir)
	if rest {
		b.Ticket, b.Rest, err = book.MakeWithRest(r)
	} else {
		b.Ticket, err = book.Make(r)
	}
	if err != nil || c.spawn == nil {
		return b, err
	}
	args := []string{"wait", "--background", "--data-dir", dataDir, b.Ticket}
	if rest {
		args = append(args, b.Rest)
	}
	if err := c.spawn(args); err != nil {
		c.console.Complain("warning: no process can be started (cairn wait does the work itself): " + err.Error())
	}
	return b, nil
}

// ticketFlags are the flags of this command line that the work needs.
func (c *cli) ticketFlags() ticket.Flags {
	f := ticket.Flags{
		Force: c.force, NoServer: c.global.noServer, Quiet: c.global.quiet,
		MaxFileSize: c.global.maxFileSize.text, MinFree: c.global.minFree.text,
	}
	if c.root.PersistentFlags().Changed("lock-timeout") {
		timeout := c.global.lockTimeout
		f.LockTimeout = &timeout
	}
	return f
}

// background reports whether this run may start work that the command line does not ask
// for.
func (c *cli) background() bool {
	return c.spawn != nil && c.config != nil && c.config.Background && !isSet(c.env("CAIRN_NO_BACKGROUND"))
}

// trackLater is track with --async.
func (c *cli) trackLater(ctx context.Context, f *trackFlags) error {
	r := &ticket.Request{Track: ticket.NewTrack(f.TrackOptions, f.timeout)}
	b, err := c.later(ctx, r, f.OnlyPaths && !f.noRest && c.background())
	c.last = nil // the process that does the work starts the cleaning, too
	if err != nil {
		return err
	}
	return c.printBegun(b)
}

func (c *cli) printBegun(b begun) error {
	if c.global.json {
		return c.writeJSON(b)
	}
	c.tellRest(b.Rest)
	_, err := c.out.WriteString(b.Ticket + "\n")
	return err
}

// trackRest begins to capture the paths that --only-paths has left out. A failure does
// not change the answer about the named paths.
func (c *cli) trackRest(ctx context.Context, f *trackFlags) string {
	if !f.OnlyPaths || f.noRest || !c.background() {
		return ""
	}
	b, err := c.later(ctx, &ticket.Request{Track: ticket.NewTrack(f.TrackOptions, 0).Whole()}, false)
	if err != nil {
		c.console.Complain("warning: the rest is not captured: " + err.Error())
	}
	return b.Ticket
}

func (c *cli) tellRest(id string) {
	if id != "" {
		c.console.Remark("everything else is captured in the background (cairn wait %s)", id)
	}
}

// server returns a client of the server that may be running, nil if none is to be
// used.
func (c *cli) server(opt cairn.Options) *client.Client {
	if c.global.noServer || c.env("CAIRN_NO_SERVER") != "" || c.root.PersistentFlags().Changed("lock-timeout") {
		return nil // the server has a lock timeout of its own
	}
	if path, err := protocol.Socket(opt.DataDir); err != nil || !isThere(path) {
		return nil
	}
	return client.New(buildName(), opt)
}

// isThere reports whether a path exists. It is asked before a client is made: most of
// the time no server runs.
func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// track takes a checkpoint, by the server if one is running.
func (c *cli) track(ctx context.Context, opt cairn.TrackOptions) (t *cairn.TrackResult, err error) {
	repoOpt, err := c.options()
	if err != nil {
		return nil, err
	}
	if s := c.server(repoOpt); s != nil {
		if t, err = s.Track(ctx, opt); !errors.Is(err, client.ErrNoServer) {
			return t, err
		}
	}
	repo, err := cairn.Open(repoOpt)
	if err != nil {
		return nil, err
	}
	t, err = repo.Track(ctx, opt)
	c.noteDue(repo)
	return t, errors.Join(err, repo.Close())
}
