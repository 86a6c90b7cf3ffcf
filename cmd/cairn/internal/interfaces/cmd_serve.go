package interfaces

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/httpapi"
	"github.com/seed-fb9cbc17/cairn/internal/listen"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/team"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const serveManual = `cairn serve answers over HTTP, for editors, agents and a browser.

Usage:
    cairn serve [DIR...] [--listen ADDRESS:PORT] [--token TOKEN] [--idle TIME]
    cairn serve --remote REMOTE --listen ADDRESS:PORT [--refresh TIME]
    cairn serve --login

The server has the root of the current directory, or those of the DIRs. Requests
that name no root mean the first one. POST /projects registers further roots,
and ?directory= in a request names one. Requests reach registered roots, further
directories of their sessions, what a session changed outside where a request
asks for it, and the new directories of checkouts and forks. GET /openapi.json
describes all requests.

Without --listen the only way in is a Unix socket, serve/sock in the data
directory, which only you can open. cairn track, diff, patch, restore, revert,
undo and redo and the hooks use the socket when it is there, and give the same
answers when it is not; --no-server or CAIRN_NO_SERVER=1 keeps them from it.
There is one server for each data directory; one that hooks have started ends
where a person starts one.

With --listen there is also a TCP port. A request to it needs the token, as
Authorization: Bearer TOKEN, or the cookie of a browser that has logged in. The
server prints a link for one login, and cairn serve --login prints another one.
Port 0 means any free port. Without --token the token is that of serve/token in
the data directory, a file that the server makes when it is missing.

With --remote the server shows what machines have pushed to a git repository, a
URL or a path, and nothing of this machine: projects, users, machines, sessions,
and turns with prompts and diffs. It is read-only: a request that would change
something gets status 403. It fetches what a page needs into a cache below
team/ in the data directory, and looks at the remote again at most every
--refresh (30s). While the remote cannot be reached it shows the last state and
says so. Addresses name the project by its key on the remote, so a link to a
turn means the same on every such server.

Stores are cleaned once an hour, as by cairn gc. SIGTERM and SIGINT finish what
is under way and end the server; a second one ends it at once, and the next
command finishes what was begun.

Options:
    --listen ADDRESS:PORT  listen there, too: 127.0.0.1:8390, [::1]:0
    --token TOKEN          want this token; CAIRN_TOKEN says the same without
                           showing it to other users of the machine
    --allow-remote         let --listen name an address of the network. Nothing
                           is encrypted: put something in front that does
    --allow-host NAME      answer for this name, too, as something in front of
                           the server passes it on; may be given several times
    --remote REMOTE        show what was pushed there, see above
    --refresh TIME         look at the remote at most this often, as in 2m
    --login                print a login link of the server that is running
    --idle TIME            end when no request has come for this long, as in 30m
    --on-demand            be the server that hooks start, see cairn help setup:
                           for every root that is asked for; where another
                           server runs there is nothing to do, but one on demand
                           of another build of cairn is replaced

One line goes to stdout for each way in, as soon as it is open: the socket, or
the address and the login link. With --json: {"socket"} or {"url", "login"}, and
{"login"} for each link of --login.
`

type serveFlags struct {
	listen, token string
	allowRemote   bool
	allowHosts    []string
	login         bool
	onDemand      bool
	idle          time.Duration
	remote        string
	refresh       time.Duration
}

func (c *commands) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := c.Command(cli.Command{
		Use: "serve [DIR...]", Short: "answer over HTTP", Manual: serveManual,
		Args: cobra.ArbitraryArgs, Complete: cli.CompleteFiles,
		Run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if err := f.checkRemote(c, args, cmd.Flags().Changed("refresh")); err != nil {
				return err
			}
			if f.login {
				if foreign := forStart(cmd); foreign != "" {
					return c.Usage("--login prints a link of a server that is running: --%s is for its start", foreign)
				}
				return c.printLogin(ctx, args, f.remote)
			}
			return c.serve(ctx, cmd, f, args)
		},
	})
	cmd.Flags().StringVar(&f.listen, "listen", "", "listen at this address, too")
	cmd.Flags().StringVar(&f.token, "token", "", "want this token")
	cmd.Flags().BoolVar(&f.allowRemote, "allow-remote", false, "let --listen name an address of the network")
	cmd.Flags().StringArrayVar(&f.allowHosts, "allow-host", nil, "answer for this name, too")
	cmd.Flags().DurationVar(&f.idle, "idle", 0, "end when no request has come for this long")
	cmd.Flags().BoolVar(&f.onDemand, "on-demand", false, "be the server that hooks start")
	cmd.Flags().StringVar(&f.remote, "remote", "", "show what was pushed there")
	cmd.Flags().DurationVar(&f.refresh, "refresh", team.DefaultEvery, "look at the remote at most this often")
	cmd.Flags().BoolVar(&f.login, "login", false, "print a login link of the server that is running")
	return cmd
}

// forStart is an option on the command line that a server has a use for only when it starts, "" for none.
func forStart(cmd *cobra.Command) string {
	for _, name := range []string{"listen", "token", "allow-remote", "allow-host", "idle", "on-demand", "refresh"} {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

func (c *commands) serve(ctx context.Context, cmd *cobra.Command, f serveFlags, dirs []string) (err error) {
	c.Stay()
	c.Env = cli.WithGit(c.Env, git.Named{}) // the callers of the server have other environments
	dir, err := c.WorkDir()
	if err != nil {
		return err
	}
	dataDir, err := c.DataDir(dir)
	if err != nil {
		return err
	}
	if f.remote != "" {
		dataDir = team.Dir(dataDir, f.remote) // with a socket and a token of its own
	}
	listener, err := f.listener(ctx, c)
	if err != nil {
		return err
	}
	claim, err := f.claim(ctx, c, dataDir)
	if err != nil || claim == nil {
		return errors.Join(err, closeListener(listener))
	}
	defer func() { err = errors.Join(err, claim.Close()) }()
	server, end, err := c.newServer(f, dataDir)
	if err != nil {
		return errors.Join(err, closeListener(listener))
	}
	defer func() { err = errors.Join(err, end()) }()
	if f.remote == "" {
		if err := c.registerAll(server, dir, dirs, f.onDemand); err != nil {
			return errors.Join(err, closeListener(listener))
		}
	}
	ways, err := c.ways(f, server, listener, claim, dataDir, cmd.Flags().Changed("token"))
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if f.idle > 0 {
		listen.NewIdle(f.idle, stop).Count(ways)
	}
	ready := func() error { return c.announce(ways) }
	if f.onDemand {
		ready = func() error { return errors.Join(protocol.WriteRunning(dataDir, cli.BuildName()), c.announce(ways)) }
		defer func() { err = errors.Join(err, protocol.RemoveOwnRunning(dataDir)) }()
	}
	return listen.Serve(ctx, server, ways, c.Console.Logger(), ready)
}

// ways opens the TCP address, if there is a listener, and the socket. tokenGiven is true for a token that --token names.
func (c *commands) ways(
	f serveFlags, server *httpapi.Server, listener net.Listener, claim *httpapi.Claim, dataDir string,
	tokenGiven bool,
) (ways []listen.Way, err error) {
	if listener != nil {
		token, err := c.token(claim, f.token, tokenGiven)
		if err != nil {
			return nil, errors.Join(err, listener.Close())
		}
		w, err := listen.TCP(server, listener, token, append([]string{f.listen}, f.allowHosts...))
		if err != nil {
			return nil, errors.Join(err, listener.Close())
		}
		ways = append(ways, w)
	}
	socket, err := claim.Listen()
	switch {
	case err == nil:
		ways = append(ways, listen.Socket(server, socket, ways, c.relayed(server, dataDir)...))
	case listener == nil:
		return nil, fmt.Errorf("open the socket: %w (--data-dir names another place, --listen goes without)", err)
	default:
		c.Console.Remark("no socket: %v", err)
	}
	return ways, nil
}

// claim claims the data directory, nil where there is nothing to do for a server on demand.
func (f *serveFlags) claim(ctx context.Context, c *commands, dataDir string) (*httpapi.Claim, error) {
	if f.onDemand {
		return httpapi.NewClaimOnDemand(ctx, dataDir, cli.BuildName())
	}
	if r := protocol.ReadRunning(dataDir); r.Alive() {
		c.Console.Remark("the server that hooks have started ends first (process %d)", r.Process.PID)
	}
	claim, err := httpapi.NewClaimByHand(ctx, dataDir)
	switch {
	case err == nil:
		err = protocol.RemoveRunning(dataDir) // of a server that was killed
	case errors.Is(err, httpapi.ErrServed):
		err = fmt.Errorf("%w (%s prints a link to its page; one with other directories or options starts once it has ended)", err, f.loginCommand())
	}
	return claim, err
}

// loginCommand is the command that prints a login link of the same server.
func (f *serveFlags) loginCommand() string {
	if f.remote == "" {
		return "cairn serve --login"
	}
	return "cairn serve --login --remote " + wording.ShellWord(f.remote)
}

func closeListener(l net.Listener) error {
	if l == nil {
		return nil
	}
	return l.Close()
}

// listener opens the TCP address, before anything is claimed for it.
func (f *serveFlags) listener(ctx context.Context, c *commands) (net.Listener, error) {
	if f.listen == "" {
		if f.token != "" || f.allowRemote || f.allowHosts != nil {
			return nil, c.Usage("has a use for --token, --allow-remote and --allow-host only with --listen")
		}
		return nil, nil
	}
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return nil, c.Usage("cannot listen at %s: want an address and a port, as in 127.0.0.1:8390", wording.ShellWord(f.listen))
	}
	if ip := net.ParseIP(host); !f.allowRemote && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, c.Usage("will not listen at %s, which others can reach and where nothing is encrypted: "+
			"127.0.0.1 is for this machine alone; --allow-remote insists", wording.ShellWord(f.listen))
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}

func (c *commands) registerAll(server *httpapi.Server, dir string, dirs []string, onDemand bool) error {
	if len(dirs) == 0 && onDemand {
		return nil // callers register their roots
	}
	if len(dirs) == 0 {
		root, err := c.RootDir(dir)
		if err != nil {
			return err
		}
		_, err = server.Register(root, true)
		return err
	}
	paths, err := c.Paths(dirs)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if _, err := server.Register(path, false); err != nil {
			return err
		}
	}
	return nil
}

// token is the token of requests by TCP.
func (c *commands) token(claim *httpapi.Claim, token string, given bool) (string, error) {
	if !given {
		token = c.Env("CAIRN_TOKEN")
	}
	if !given && token == "" {
		return claim.Token()
	}
	if err := httpapi.CheckToken(token); err != nil {
		return "", c.Usage("cannot use the token: %v", err)
	}
	return token, nil
}

func (c *commands) announce(ways []listen.Way) error {
	for _, w := range ways {
		if c.Global.JSON {
			if err := c.WriteJSON(w.Announcement); err != nil {
				return err
			}
			continue
		}
		if w.Socket != "" {
			fmt.Fprintf(c.Out, "socket  %s\n", w.Socket)
			continue
		}
		fmt.Fprintf(c.Out, "url     %s\nlogin   %s\n", w.URL, w.Login)
	}
	return c.Out.Flush()
}

// printLogin asks the server that is running for a login link.
func (c *commands) printLogin(ctx context.Context, args []string, remote string) error {
	if len(args) > 0 {
		return c.Usage("--login takes no DIR")
	}
	dataDir, err := c.UsersDataDir()
	if err != nil {
		return err
	}
	if remote != "" {
		dataDir = team.Dir(dataDir, remote)
	}
	path, err := protocol.Socket(dataDir)
	if err == nil {
		err = protocol.CheckOwner(path)
	}
	if err != nil {
		return fmt.Errorf("no server is running: %w", err)
	}
	links, err := listen.LoginLinks(ctx, path)
	switch {
	case err != nil:
		return fmt.Errorf("no server is running: %w", err)
	case links == "":
		return errors.New("the server listens on its socket only: start it with --listen 127.0.0.1:0")
	}
	if !c.Global.JSON {
		_, err = c.Out.WriteString(links)
		return err
	}
	for link := range strings.Lines(links) {
		if err := c.WriteJSON(listen.Announcement{Login: strings.TrimSuffix(link, "\n")}); err != nil {
			return err
		}
	}
	return nil
}
