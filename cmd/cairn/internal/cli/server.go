package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/client"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
)

// ServerState is the answer of a running server about the root.
type ServerState struct {
	Watching *cairn.WatchState `json:"watching,omitempty"` // nil: it does not have the store open
}

// ServerState asks the server. It returns nil if none is running or none may be used.
func (c *Program) ServerState(ctx context.Context) *ServerState {
	opt, err := c.Options()
	if err != nil {
		return nil
	}
	server := c.Server(opt)
	if server == nil {
		return nil
	}
	state, err := server.Watching(ctx)
	if err != nil {
		return nil
	}
	return &ServerState{state}
}

// ByServer does work by the server, if one is running, else by the repository, which is open. A server
// that watches the root knows what has changed and need not look at every file.
func ByServer[T any](c *Program, there func(*client.Client) (T, error), here func() (T, error)) (T, error) {
	if s := c.Server(*c.LastOptions); s != nil {
		if res, err := there(s); !errors.Is(err, client.ErrNoServer) {
			c.asked = true
			return res, err
		}
	}
	return here()
}

// Way is a way back, by a server and without one.
type Way struct {
	There func(*client.Client) (*cairn.Result, error)
	Here  func() (*cairn.Result, error)
	Once  bool // done again it would take back more
}

// GoBack goes back by the server, if one is running, else by the repository, which is open. Where the answer
// of the server is lost, the record of the operation says what it did. A server of which neither an
// answer nor a record comes may still be at work: what may be done only once is an error then.
func (c *Program) GoBack(ctx context.Context, repo *cairn.Repo, way Way) (*cairn.Result, error) {
	s := c.Server(*c.LastOptions)
	if s == nil {
		return way.Here()
	}
	token := operation.NewToken()
	res, err := way.There(s.Named(token))
	begun := errors.Is(err, client.ErrBegun)
	c.asked = begun || !errors.Is(err, client.ErrNoServer)
	switch {
	case !c.asked:
		return way.Here()
	case !begun:
		return res, err
	}
	recorded, failed := access.Lines(repo).Recorded(ctx, token)
	if recorded == nil && failed == nil && way.Once && errors.Is(err, client.ErrLost) {
		if !s.Gone(ctx) && ctx.Err() == nil {
			return nil, fmt.Errorf("%w; cairn operations says whether it was done", err)
		}
		recorded, failed = access.Lines(repo).Recorded(ctx, token) // the server may have been at work until now
	}
	switch {
	case recorded == nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case failed != nil:
		return nil, errors.Join(err, failed)
	case recorded != nil:
		c.Console.Remark("the server has not answered; this is what it has recorded")
		return recorded, nil
	}
	c.asked = false
	return way.Here()
}

// BegunTicket is the answer of a command that goes on in the background.
type BegunTicket struct {
	Ticket string `json:"ticket"`
	Rest   string `json:"rest,omitempty"` // ticket for the paths that the other one leaves out
}

// BeginTicket begins work in the background and returns its ticket. It looks at neither the
// files nor the store, so that it returns at once. The server does the work if one is
// running, else a process that is started for it. With rest, the whole is captured
// after the paths that r names.
func (c *Program) BeginTicket(ctx context.Context, r *ticket.Request, rest bool) (BegunTicket, error) {
	opt, err := c.Options()
	if err != nil {
		return BegunTicket{}, err
	}
	r.Reduce(opt.NoPrompts, opt.NoMask)
	if c.NearTicket != nil && !rest {
		if id, err := c.NearTicket(opt, r); err == nil {
			return BegunTicket{Ticket: id}, nil
		}
	}
	if s := c.Server(opt); s != nil {
		id, restID, err := s.BeginTicket(ctx, r, rest)
		if !errors.Is(err, client.ErrNoServer) {
			return BegunTicket{id, restID}, err
		}
	}
	return c.BeginHere(opt, r, rest)
}

// BeginHere writes the tickets and starts a process for them.
func (c *Program) BeginHere(opt cairn.Options, r *ticket.Request, rest bool) (b BegunTicket, err error) {
	root, err := realpath.Of(opt.Root)
	if err != nil {
		return b, fmt.Errorf("%w: %w", cairn.ErrRoot, err)
	}
	r.Root, r.Flags = cairn.Path(root), c.ticketFlags()
	r.Flags.GitDir, r.Flags.GitWorkTree = opt.GitDir, opt.GitWorkTree
	dataDir := opt.DataDir
	book := ticket.In(dataDir)
	if rest {
		b.Ticket, b.Rest, err = book.MakeWithRest(r)
	} else {
		b.Ticket, err = book.Make(r)
	}
	if err != nil || c.Spawn == nil {
		return b, err
	}
	args := []string{"wait", "--background", "--data-dir", dataDir, b.Ticket}
	if rest {
		args = append(args, b.Rest)
	}
	if err := c.Spawn(args); err != nil {
		c.Console.Complain("warning: no process can be started (cairn wait does the work itself): " + err.Error())
	}
	return b, nil
}

// ticketFlags are the flags of this command line that the work needs.
func (c *Program) ticketFlags() ticket.Flags {
	f := ticket.Flags{
		Force: c.Force, NoServer: c.Global.NoServer, Quiet: c.Global.Quiet,
		MaxFileSize: c.Global.MaxFileSize.text, MinFree: c.Global.MinFree.text,
	}
	if c.Root.PersistentFlags().Changed("lock-timeout") {
		timeout := c.Global.LockTimeout
		f.LockTimeout = &timeout
	}
	return f
}

// MayBegin reports whether this run may start work that the command line does not ask
// for.
func (c *Program) MayBegin() bool {
	return c.Spawn != nil && c.Config != nil && c.Config.Background && !isSet(c.Env("CAIRN_NO_BACKGROUND"))
}

// PrintTicket prints the ticket of work in the background.
func (c *Program) PrintTicket(b BegunTicket) error {
	if c.Global.JSON {
		return c.WriteJSON(b)
	}
	c.TellRest(b.Rest)
	_, err := c.Out.WriteString(b.Ticket + "\n")
	return err
}

// TellRest names the ticket that captures the paths that the other one leaves out, "" for none.
func (c *Program) TellRest(id string) {
	if id != "" {
		c.Console.Remark("everything else is captured in the background (cairn wait %s)", id)
	}
}

// WithoutServer reports whether a flag or a variable keeps this run from a server.
func (c *Program) WithoutServer() bool { return c.Global.NoServer || isSet(c.Env("CAIRN_NO_SERVER")) }

// Server returns a client of the server that may be running, nil if none is to be
// used.
func (c *Program) Server(opt cairn.Options) *client.Client {
	if c.WithoutServer() || c.Root.PersistentFlags().Changed("lock-timeout") {
		return nil // the server has a lock timeout of its own
	}
	if path, err := protocol.Socket(opt.DataDir); err != nil || !Exists(path) {
		return nil
	}
	return client.New(BuildName(), opt)
}

// Exists reports whether a path exists. It is asked before a client is made: most of
// the time no server runs.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TakeCheckpoint takes a checkpoint, by the server if one is running.
func (c *Program) TakeCheckpoint(ctx context.Context, opt cairn.TrackOptions) (t *cairn.TrackResult, err error) {
	repoOpt, err := c.Options()
	if err != nil {
		return nil, err
	}
	if s := c.Server(repoOpt); s != nil {
		if t, err = s.Track(ctx, opt); !errors.Is(err, client.ErrNoServer) {
			return t, err
		}
	}
	repo, err := cairn.Open(repoOpt)
	if err != nil {
		return nil, err
	}
	t, err = repo.Track(ctx, opt)
	c.NoteDue(repo)
	return t, errors.Join(err, repo.Close())
}
